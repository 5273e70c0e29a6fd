import Foundation

// Call sites written for Apple's platforms pass `id as CVarArg`, where bridging makes that an
// object. These conformances let the same text compile where there is no bridging; a predicate
// receives the value itself.

extension NSObject: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: ObjectIdentifier(self))] }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { uuidString._cVarArgObject }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { absoluteString._cVarArgObject }
}

extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}
