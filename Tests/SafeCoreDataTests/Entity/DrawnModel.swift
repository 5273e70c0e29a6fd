import SafeCoreData
import TestSupport

extension NSManagedObjectModel {
    /// Reads a model file with these elements, as a model editor draws them.
    convenience init(drawn contents: String) throws {
        let folder = try TemporaryFolder()
        let bundle = folder.file("Drawn.xcdatamodel")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            \(contents)
            </model>
            """
        try Data(text.utf8).write(to: bundle.appendingPathComponent("contents"))
        try self.init(reading: bundle)
    }
}
