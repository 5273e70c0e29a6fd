#ifndef OPENCOREDATA_SWIFT_RUNTIME_H
#define OPENCOREDATA_SWIFT_RUNTIME_H

#include <stdint.h>

/// Retains an object unless its deinitialization has begun; gives null then. An entry point of the Swift runtime's ABI,
/// the one that weak references use. The memory of the object must be valid at the call.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Retains an object several times at once. An entry point of the Swift runtime's ABI.
extern void *_Nonnull swift_retain_n(void *_Nonnull object, uint32_t count);

/// Releases an object several times at once. An entry point of the Swift runtime's ABI.
extern void swift_release_n(void *_Nonnull object, uint32_t count);

/// Tells the processor that memory will be read soon. Any address will do.
static inline void opencoredata_prefetch(const void *_Nonnull address) { __builtin_prefetch(address); }

/// The entity of which the thread is about to make an object for a context, in the entity's own class; null at other times.
/// One for the whole program: the functions below are compiled into every file that calls them.
extern _Thread_local const void *_Nullable opencoredata_entityOfNextObject;

static inline void opencoredata_willMakeObjectForContext(const void *_Nonnull entity) {
    opencoredata_entityOfNextObject = entity;
}

/// Whether the object of the entity that is being made is the one announced. True once.
static inline int opencoredata_makesObjectForContext(const void *_Nonnull entity) {
    if (opencoredata_entityOfNextObject != entity) return 0;
    opencoredata_entityOfNextObject = 0;
    return 1;
}

/// The list of what the thread is about to release (see ReleaseQueue.swift); null while it releases nothing of that kind.
extern _Thread_local void *_Nullable opencoredata_waitingReleases;

static inline void *_Nullable opencoredata_getWaitingReleases(void) { return opencoredata_waitingReleases; }
static inline void opencoredata_setWaitingReleases(void *_Nullable list) { opencoredata_waitingReleases = list; }

/// Whether a context of the main queue was ever made. Read and written by the functions below only.
extern _Bool opencoredata_hasMainContexts;

static inline _Bool opencoredata_mainContextsExist(void) {
    return __atomic_load_n(&opencoredata_hasMainContexts, __ATOMIC_RELAXED);
}

static inline void opencoredata_mainContextWasMade(void) {
    __atomic_store_n(&opencoredata_hasMainContexts, 1, __ATOMIC_RELAXED);
}

#endif
