extension NSPersistentStoreCoordinator {
    /// Receives the events of all stores and contexts of the program; nil, the default, for none.
    ///
    /// Set it before the first store is opened. It costs nothing where there is none.
    public static var instrument: (any CoreDataInstrument)? {
        get { Instruments.instrument }
        set { Instruments.instrument = newValue }
    }
}
