"""Which messages of validation layers are false alarms."""

import rgraph as rg


def is_false(message: str, plans: list[rg.Plan]) -> bool:
    """Whether a message is one of those that layers have for valid frames.

    Layers up to 1.4.364 do not know that the barrier of an image orders everything before it with everything after, and
    report a hazard where memory is handed on from resource to resource through an image that lies between.
    """
    if "SYNC-HAZARD" not in message:
        return False
    for plan in plans:
        places = plan.memory.placements
        for one in places:
            if f"name = {one.resource}," not in message and f"[{one.resource}]" not in message:
                continue
            for other in places:
                apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
                if other.resource != one.resource and other.heap == one.heap and not apart:
                    return True
    return False
