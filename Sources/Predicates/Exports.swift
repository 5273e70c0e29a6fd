// A declaration here shadows Foundation's of the same name in every file that imports this module (or one that
// re-exports it) and does not import Foundation by itself.
@_exported import Foundation
