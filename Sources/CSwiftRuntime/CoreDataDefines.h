/* What is defined here on other systems the Swift module CoreData declares: the header has nothing to add. */
#pragma once
