import Database

extension Guess {
  /// Writes an audit row for each failed attempt that triggered a block.
  ///
  /// Attempts during a block write nothing, so that they can't flood the log.
  static func recordBlocks(
    _ guesses: [Guess], of id: ID<Administrator>?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    for guess in guesses {
      let seconds = guess.closes(at: now)
      guard seconds > 0 else { continue }
      // A network block isn't tied to an administrator.
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
  /// Who is blocked.
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
