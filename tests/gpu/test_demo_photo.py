"""The photo laboratory: what must stay, what must go, what is refused."""

import numpy as np
import pytest

import rgraph as rg
from rgraph.demo import photo

PLAIN = {"denoise": 0.0, "clarity": 0.0, "bloom": 0.0, "vignette": 0.0, "grain": 0.0}


def linear(encoded: np.ndarray) -> np.ndarray:
    """IEC 61966-2-1."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def scene(height: int = 96, width: int = 128) -> np.ndarray:
    """A picture with edges, slopes and fine texture, from 0 to 1."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.stack([0.25 + 0.5 * x / width, 0.3 + 0.3 * y / height, 0.55 - 0.3 * x / width], 2)
    picture[20:60, 30:70] = (0.75, 0.3, 0.2)
    picture[40:80, 80:110] *= 0.35
    return picture


def test_an_even_picture_stays_even_and_middle_grey_stays_grey(device: rg.Device):
    for value in (40, 118, 200):
        even = np.full((48, 64, 3), value, np.uint8)
        out = photo.develop(even, device=device, **PLAIN | {"denoise": 0.7, "clarity": 0.8, "bloom": 0.2})
        assert (out.shape, out.dtype) == (even.shape, np.uint8)
        assert np.ptp(out.astype(int)) <= 1
        if value == 118:
            assert abs(int(out[0, 0, 0]) - value) <= 2
    darker, brighter = (photo.develop(np.full((16, 16, 3), value, np.uint8), device=device, **PLAIN)[0, 0, 0]
                        for value in (60, 190))  # fmt: skip
    assert darker < 60
    assert brighter > 185


def test_noise_goes_and_edges_stay(device: rg.Device):
    clean = scene()
    noisy = clean + np.random.default_rng(2).normal(0, 0.04, clean.shape)
    noisy = (np.clip(noisy, 0, 1) * 255).astype(np.uint8)
    left = photo.develop(noisy, device=device, **PLAIN).astype(float)
    out = photo.develop(noisy, device=device, **PLAIN | {"denoise": 0.6}).astype(float)
    flat = (slice(25, 55), slice(35, 65))
    assert out[flat].var(axis=(0, 1)).mean() < left[flat].var(axis=(0, 1)).mean() / 4
    # The edge at column 30 is as high as it was.
    step = [picture[25:55, 32:36].mean((0, 1)) - picture[25:55, 25:29].mean((0, 1)) for picture in (left, out)]
    np.testing.assert_allclose(step[1], step[0], rtol=0.05, atol=1.5)


def test_clarity_raises_details_and_keeps_the_whole(device: rg.Device):
    random = np.random.default_rng(3)
    coarse = np.kron(random.normal(0, 1, (12, 16)), np.ones((8, 8)))
    picture = np.clip(0.45 + 0.03 * coarse[..., None], 0, 1).repeat(3, axis=2).astype("f4")
    same = linear(photo.develop(picture, device=device, **PLAIN))
    more = linear(photo.develop(picture, device=device, **PLAIN | {"clarity": 1.0}))
    assert more.std() > 1.5 * same.std()
    assert more.mean() == pytest.approx(same.mean(), rel=0.05)


def test_the_vignette_darkens_corners_only(device: rg.Device):
    even = np.full((64, 64, 3), 150, np.uint8)
    out = photo.develop(even, device=device, **PLAIN | {"vignette": 1.0}).astype(int)
    assert out[0, 0, 0] < out[32, 32, 0] - 30
    assert abs(out[0, 0, 0] - out[-1, -1, 0]) <= 2


def test_grain_is_repeatable_and_another_seed_is_another_grain(device: rg.Device):
    even = np.full((64, 64, 3), 128, np.uint8)
    one, same, other = (
        photo.develop(even, device=device, **PLAIN | {"grain": 1.0, "seed": seed}) for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).mean() > 0.5
    assert 2 < one.astype(float).std() < 30


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("channels", [0, 1, 2, 3, 4])
def test_shape_and_type_come_back(device: rg.Device, dtype: str, channels: int):
    picture = scene(40, 50)[..., :1].repeat(max(channels, 1), axis=2)
    full = {"u1": 255, "u2": 65535, "f4": 1}[dtype]
    picture = (linear(picture) if dtype == "f4" else picture * full).astype(dtype)
    if channels in (2, 4):
        picture[..., -1] = full // 2 if full > 1 else 0.5
    if channels == 0:
        picture = picture[..., 0]
    out = photo.develop(picture, device=device, **PLAIN)
    assert (out.shape, out.dtype) == (picture.shape, picture.dtype)
    if channels in (2, 4):
        np.testing.assert_allclose(out[..., -1] / full, 0.5, atol=0.01)
    # All types show the same picture.
    reference = photo.develop((scene(40, 50)[..., :1].repeat(3, axis=2) * 255).astype("u1"), device=device, **PLAIN)
    first = out if channels == 0 else out[..., 0]
    np.testing.assert_allclose(first / full, reference[..., 0] / 255, atol=0.012)


def test_films_differ_and_silver_has_no_colours(device: rg.Device):
    picture = (scene() * 255).astype(np.uint8)
    pictures = {film: photo.develop(picture, device=device, **PLAIN | {"film": film}) for film in photo.FILMS}
    silver = pictures.pop("silver").astype(int)
    assert np.abs(silver[..., 0] - silver[..., 2]).max() <= 1
    assert pictures["vivid"].std() > pictures["faded"].std()
    assert pictures["warm"][..., 0].mean() - pictures["warm"][..., 2].mean() > (
        pictures["cool"][..., 0].mean() - pictures["cool"][..., 2].mean()
    )


def test_images_hand_their_memory_on():
    memory = photo.build(np.zeros((512, 512, 3), np.uint8)).bake("discrete").memory
    assert memory.total < memory.without_aliasing / 2


@pytest.mark.parametrize(
    ("picture", "options", "words"),
    [
        (np.zeros((8, 64, 3), np.uint8), {}, "at least 16"),
        (np.zeros((32, 32, 5), np.uint8), {}, "1 to 4 channels"),
        (np.zeros((32, 32, 3), np.int64), {}, "uint8, uint16 or float32"),
        (np.zeros((32, 32, 3), np.uint8), {"denoise": 1.5}, "denoise is 1.5"),
        (np.zeros((32, 32, 3), np.uint8), {"film": "warn"}, "there is no film 'warn'"),
    ],
)
def test_what_cannot_be_developed_is_refused(picture: np.ndarray, options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        photo.build(picture, **options)
