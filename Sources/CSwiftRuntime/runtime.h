#ifndef OPENCOREDATA_SWIFT_RUNTIME_H
#define OPENCOREDATA_SWIFT_RUNTIME_H

/// Retains an object unless its deinitialization has begun; gives null then. An entry point of the Swift runtime's ABI,
/// the one that weak references use. The memory of the object must be valid at the call.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
