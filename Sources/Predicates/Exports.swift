// A declaration in this module shadows Foundation's declaration of the same name in every file that
// imports this module (or one that re-exports it) and does not import Foundation itself.
@_exported import Foundation
