/// A setting that a program is started with: a variable of the environment, or an argument with a
/// value after it.
struct LaunchSetting {
    let variable: String
    let argument: String

    /// Returns the text of the setting; nil if there is none. The variable decides where both are
    /// there.
    func text(_ arguments: [String], _ environment: [String: String]) -> String? {
        if let value = environment[variable] { return value }
        guard let index = arguments.firstIndex(of: argument), index + 1 < arguments.count else { return nil }
        return arguments[index + 1]
    }
}
