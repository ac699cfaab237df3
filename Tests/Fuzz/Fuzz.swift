import Foundation
import ParserFuzzing

/// Called by libFuzzer, which has `main`, for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  if let flaw = Fuzz.parser.flaw(in: bytes) { fatalError(flaw) }
  return 0
}

enum Fuzz {
  /// The parser that `COUNTERSIGN_FUZZ` names.
  static let parser: FuzzedParser = {
    let name = ProcessInfo.processInfo.environment["COUNTERSIGN_FUZZ"] ?? ""
    guard let parser = FuzzedParser(rawValue: name) else {
      fatalError("COUNTERSIGN_FUZZ must be one of \(FuzzedParser.allCases.map(\.rawValue))")
    }
    return parser
  }()
}
