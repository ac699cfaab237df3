import Database

/// Names a statement by the addresses of the literals it is made of.
///
/// A literal lies at one place as long as the program runs, so equal addresses are equal texts;
/// the text itself, some hundred bytes of it, is only put together to prepare a statement.
struct StatementKey: Hashable {
  private let marks: [UInt]

  init(_ sql: SQL) {
    var marks: [UInt] = []
    marks.reserveCapacity(24)
    sql.forEachLiteral { literal in
      // No literal lies at address 0, so that is what stands for a value.
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
}
