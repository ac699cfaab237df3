import Database

/// Identifies a statement by the addresses of its literals.
///
/// The address of a literal never changes while the program runs, so equal addresses mean equal
/// text. The text itself, a few hundred bytes, is assembled only to prepare a statement.
struct StatementKey: Hashable {
  private let marks: [UInt]

  init(_ sql: SQL) {
    var marks: [UInt] = []
    marks.reserveCapacity(24)
    sql.forEachLiteral(in: .postgreSQL) { literal in
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

  /// Hashes what nearly always differs between statements: the number and the sum of the addresses.
  func hash(into hasher: inout Hasher) {
    hasher.combine(marks.count)
    hasher.combine(marks.reduce(0, &+))
  }
}
