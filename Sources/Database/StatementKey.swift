/// Identifies a statement in one dialect by the addresses of its literals, for drivers.
///
/// The addresses of a literal and of a name never change while the program runs, so equal addresses
/// mean equal text. The text itself, a few hundred bytes, is assembled only to prepare a statement.
public struct StatementKey: Hashable, Sendable {
  @usableFromInline let marks: [UInt]

  /// Creates the key of a statement.
  @inlinable
  public init(_ sql: SQL, in dialect: Dialect) {
    var marks: [UInt] = []
    // A literal has two marks.
    marks.reserveCapacity(2 * sql.pieces.count)
    sql.forEachPart(in: dialect) { part in
      switch part {
      case .literal(let literal) where literal.hasPointerRepresentation:
        marks.append(UInt(bitPattern: unsafe literal.utf8Start))
        marks.append(UInt(literal.utf8CodeUnitCount))
      case .literal(let literal):
        marks.append(UInt(literal.unicodeScalar.value))
        marks.append(UInt.max)
      case .name(let name):
        marks.append(UInt(bitPattern: ObjectIdentifier(name)))
        marks.append(UInt.max - 1)
      // No literal has address 0, so it represents a value.
      case .value: marks.append(0)
      }
    }
    self.marks = marks
  }

  /// Compares the addresses.
  @inlinable
  public static func == (one: StatementKey, other: StatementKey) -> Bool {
    one.marks == other.marks
  }

  /// Hashes what nearly always differs between statements: the number and the sum of the addresses.
  @inlinable
  public func hash(into hasher: inout Hasher) {
    hasher.combine(marks.count)
    hasher.combine(marks.reduce(0, &+))
  }
}
