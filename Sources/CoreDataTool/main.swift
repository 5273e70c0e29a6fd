import CoreDataToolKit
import Foundation

// A reader that goes away (`coredata query … | head`) is noticed by the failing write, not by a
// signal.
signal(SIGPIPE, SIG_IGN)
exit(CommandLineTool().run(Array(CommandLine.arguments.dropFirst())).rawValue)
