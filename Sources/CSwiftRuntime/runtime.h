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

/// Whether the thread is about to make an object for a context: the context will keep the object's model alive. One for the
/// whole program: the functions below are compiled into every file that calls them.
extern _Thread_local int opencoredata_makesObjectForContext;

static inline void opencoredata_willMakeObjectForContext(void) { opencoredata_makesObjectForContext = 1; }

/// Reads the flag and clears it.
static inline int opencoredata_takeMakesObjectForContext(void) {
    int value = opencoredata_makesObjectForContext;
    opencoredata_makesObjectForContext = 0;
    return value;
}

#endif
