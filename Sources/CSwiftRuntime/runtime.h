#ifndef OPENCOREDATA_SWIFT_RUNTIME_H
#define OPENCOREDATA_SWIFT_RUNTIME_H

/// Retains an object unless its deinitialization has begun; gives null then. An entry point of the Swift runtime's ABI,
/// the one that weak references use. The memory of the object must be valid at the call.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Whether the thread is about to make an object for a context: the context will keep the object's model alive.
static _Thread_local int opencoredata_makesObjectForContext = 0;

static inline void opencoredata_willMakeObjectForContext(void) { opencoredata_makesObjectForContext = 1; }

/// Reads the flag and clears it.
static inline int opencoredata_takeMakesObjectForContext(void) {
    int value = opencoredata_makesObjectForContext;
    opencoredata_makesObjectForContext = 0;
    return value;
}

#endif
