import Foundation

// Call sites written for Apple's platforms pass `id as CVarArg`, where bridging makes that an
// object. These conformances let the same text compile where there is no bridging; a predicate
// receives the value itself.

extension NSObject: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension UUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension UUID: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { uuidString._cVarArgObject }
}

extension Date: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Date: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension URL: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension URL: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { absoluteString._cVarArgObject }
}

extension Decimal: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Decimal: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Data: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Data: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Array: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Array: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}

extension Set: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Set: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }
}
