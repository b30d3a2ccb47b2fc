/// How jemalloc behaves in this process (docs/decisions/0006). Messages are made on one thread and
/// freed on another, so few arenas are better than many; what is free goes back to the system soon,
/// by a thread of its own, so that resident memory is what is in use.
extern "C" const char* malloc_conf; // NOLINT(readability-identifier-naming)
const char* malloc_conf = "narenas:2,dirty_decay_ms:100,muzzy_decay_ms:0,background_thread:true";
