/// Identifies a statement in one dialect by the addresses of its literals, for drivers.
///
/// The address of a literal never changes while the program runs, so equal addresses mean equal
/// text. The text itself, a few hundred bytes, is assembled only to prepare a statement.
public struct StatementKey: Hashable, Sendable {
  @usableFromInline let marks: [UInt]

  /// Creates the key of a statement.
  @inlinable
  public init(_ sql: SQL, in dialect: Dialect) {
    var marks: [UInt] = []
    marks.reserveCapacity(24)
    sql.forEachLiteral(in: dialect) { literal in
      // No literal has address 0, so it represents a value.
      guard let literal else { return marks.append(0) }
      if literal.hasPointerRepresentation {
        marks.append(UInt(bitPattern: unsafe literal.utf8Start))
        marks.append(UInt(literal.utf8CodeUnitCount))
      } else {
        marks.append(UInt(literal.unicodeScalar.value))
        marks.append(UInt.max)
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
