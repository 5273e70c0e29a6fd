#include "runtime.h"

_Thread_local int opencoredata_makesObjectForContext = 0;
