import Database

extension Guess {
  /// Writes a row for each of these wrong guesses at an administrator that closed a door.
  ///
  /// Who comes while it is closed leaves none: the log must not grow with every knock.
  static func recordBlocks(
    _ guesses: [Guess], of id: ID<Administrator>?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    for guess in guesses {
      let seconds = guess.closes(at: now)
      guard seconds > 0 else { continue }
      // An address is nobody's.
      let isAddress = guess.rule.leak != nil
      var entry = AuditEntry(
        "administrator.block", "administrator", isAddress ? "" : id?.text ?? "", name: "")
      entry.to = "closed for \(seconds) s"
      entry.note = isAddress ? "the network address" : nil
      try entry.record(by: author, at: now, connection)
    }
  }
}
