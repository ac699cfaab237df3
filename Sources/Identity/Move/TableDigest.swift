import Crypto
public import Database

/// The number of rows of a table, and a digest of all of them in the order of the key.
///
/// It doesn't depend on the database: values are encoded with their type, and columns are in the
/// order of their names.
public struct TableDigest: Sendable, Equatable {
  public private(set) var rows = 0

  /// SHA-256 of the value before a row followed by that row.
  public private(set) var value = [UInt8](repeating: 0, count: HashFunction.sha256.digestLength)

  public init() {}

  public mutating func add(_ row: some Sequence<SQLValue>) {
    var bytes = value
    for value in row { Self.append(value, to: &bytes) }
    value = HashFunction.sha256.digest(bytes)
    rows += 1
  }

  private static func append(_ value: SQLValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      append(UInt64(bitPattern: number), to: &bytes)
    case .real(let number):
      bytes.append(2)
      append(number.bitPattern, to: &bytes)
    case .text(let text):
      bytes.append(3)
      append(UInt64(text.utf8.count), to: &bytes)
      bytes += text.utf8
    case .blob(let blob):
      bytes.append(4)
      append(UInt64(blob.count), to: &bytes)
      bytes += blob
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
