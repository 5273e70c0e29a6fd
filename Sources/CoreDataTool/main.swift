import CoreDataToolKit

CommandLineTool.main()
