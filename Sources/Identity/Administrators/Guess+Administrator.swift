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
      // A network is nobody's.
      let reach = guess.counter.reach
      var entry = AuditEntry(
        "administrator.block", "administrator", reach == .network ? "" : id?.text ?? "", name: "")
      entry.to = "closed for \(seconds) s"
      entry.note = reach.note
      try entry.record(by: author, at: now, connection)
    }
  }
}

extension GuessCounter.Reach {
  /// To whom the door is closed.
  fileprivate var note: String? {
    switch self {
    case .network: "the network address"
    case .nameFromNetwork: "this administrator, from the network address"
    case .name: "this administrator, from all unknown devices"
    case .device: "this administrator, from a known device"
    case .account: nil
    }
  }
}
