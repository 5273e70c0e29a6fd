import CoreData

/// There is a class of this name in the module CoreDataModelTests as well.
public final class StoreyedDepot: NSManagedObject {}

/// Only this module has a class of this name.
public final class SupportedDepot: NSManagedObject {}
