/// The version of the package that the command belongs to.
enum ToolVersion {
    static let number = "0.1.0"
}
