//! The order of live passes and their queues.
