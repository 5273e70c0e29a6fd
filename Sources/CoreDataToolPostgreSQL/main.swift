import CoreDataToolKit

// The module CoreDataPostgreSQL, which the target links, is found at run time.
CommandLineTool.main()
