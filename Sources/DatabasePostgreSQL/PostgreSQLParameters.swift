import CPostgreSQL
import Database

/// The values of a statement in the forms that libpq sends.
struct PostgreSQLParameters {
  /// A value's place in the bytes, or nil for NULL, and its format: 1 for binary, 0 for text.
  private struct Place {
    var start: Int?
    var length: Int32 = 0
    var format: Int32 = 1
  }

  struct Misfit: Error {
    var code: DatabaseError.Code
    var reason: String
  }

  private var bytes: [UInt8] = []
  private var places: [Place] = []

  init() {}

  /// Converts values to the types that the server inferred from the statement.
  ///
  /// - Throws: `Misfit`, which names the position and the types, but not the value.
  init(_ values: [SQLValue], types: [Oid]) throws(Misfit) {
    guard values.count == types.count else {
      throw Misfit(code: .misuse, reason: "parameters stand in the text without a value")
    }
    for (offset, value) in values.enumerated() {
      let isFit =
        switch value {
        case .null: appendNull()
        case .integer(let number): append(number, as: types[offset])
        case .real(let number): append(number, as: types[offset])
        case .text(let text): try append(text, as: types[offset], at: offset + 1)
        case .blob(let blob): types[offset] == PostgreSQLType.bytea ? append(blob) : false
        }
      guard isFit else {
        throw Misfit(
          code: .misuse,
          reason: "$\(offset + 1) is \(value.kind), but the server expects type "
            + "\(types[offset]); cast it in the text")
      }
    }
  }

  private mutating func appendNull() -> Bool {
    places.append(Place(start: nil))
    return true
  }

  private mutating func append(_ number: Int64, as type: Oid) -> Bool {
    switch type {
    case PostgreSQLType.int8: append(number)
    case PostgreSQLType.int4: appendIfFits(Int32(exactly: number))
    case PostgreSQLType.int2: appendIfFits(Int16(exactly: number))
    case PostgreSQLType.oid: appendIfFits(UInt32(exactly: number))
    case PostgreSQLType.bool: appendIfFits(number == 0 || number == 1 ? UInt8(number) : nil)
    case PostgreSQLType.float8: append(Double(number).bitPattern)
    case PostgreSQLType.float4: append(Float(number).bitPattern)
    case PostgreSQLType.numeric: appendText(String(number))
    default: false
    }
  }

  private mutating func append(_ number: Double, as type: Oid) -> Bool {
    switch type {
    case PostgreSQLType.float8: append(number.bitPattern)
    case PostgreSQLType.float4: append(Float(number).bitPattern)
    case PostgreSQLType.numeric: appendText("\(number)")
    default: false
    }
  }

  private mutating func append(
    _ text: String, as type: Oid, at position: Int
  ) throws(Misfit) -> Bool {
    guard !text.utf8.contains(0) else {
      throw Misfit(
        code: .unexpectedValue,
        reason: "$\(position) holds a NUL character, which PostgreSQL can't store")
    }
    switch type {
    case PostgreSQLType.bool, PostgreSQLType.bytea, PostgreSQLType.int2, PostgreSQLType.int4,
      PostgreSQLType.int8, PostgreSQLType.oid, PostgreSQLType.float4, PostgreSQLType.float8,
      PostgreSQLType.numeric:
      return false
    default:
      return PostgreSQLType.isText(type) ? append(text.utf8) : appendText(text)
    }
  }

  private mutating func appendIfFits(_ number: (some FixedWidthInteger)?) -> Bool {
    guard let number else { return false }
    return append(number)
  }

  private mutating func append(_ number: some FixedWidthInteger) -> Bool {
    let size = number.bitWidth / 8
    return append((0..<size).map { UInt8(truncatingIfNeeded: number >> ((size - 1 - $0) * 8)) })
  }

  private mutating func append(_ value: some Collection<UInt8>) -> Bool {
    places.append(Place(start: bytes.count, length: Int32(value.count)))
    bytes.append(contentsOf: value)
    // The address of an empty value must exist, or it would be NULL.
    bytes.append(0)
    return true
  }

  /// Appends a value in text format, which ends with a NUL.
  private mutating func appendText(_ text: String) -> Bool {
    places.append(Place(start: bytes.count, length: Int32(text.utf8.count), format: 0))
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
    return true
  }

  var count: Int32 { Int32(places.count) }

  /// Passes the values to a closure: addresses, lengths, and formats.
  func withPointers<T>(
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> T
  ) -> T {
    unsafe bytes.withUnsafeBytes { buffer in
      let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      let addresses = unsafe places.map { place -> UnsafePointer<CChar>? in
        guard let offset = place.start else { return nil }
        return unsafe start.map { unsafe $0 + offset }
      }
      return unsafe addresses.withUnsafeBufferPointer { addresses in
        unsafe places.map(\.length).withUnsafeBufferPointer { lengths in
          unsafe places.map(\.format).withUnsafeBufferPointer { formats in
            unsafe body(addresses.baseAddress, lengths.baseAddress, formats.baseAddress)
          }
        }
      }
    }
  }
}

extension SQLValue {
  /// The type, for messages.
  fileprivate var kind: String {
    switch self {
    case .null: "NULL"
    case .integer: "an integer"
    case .real: "a floating-point number"
    case .text: "text"
    case .blob: "bytes"
    }
  }
}
