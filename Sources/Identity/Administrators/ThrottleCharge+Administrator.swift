import Database

extension ThrottleCharge {
  /// Writes an audit row for each failed attempt that triggered a block.
  ///
  /// Attempts during a block write nothing, so that they can't flood the log.
  static func recordBlocks(
    _ charges: [ThrottleCharge], of id: ID<Administrator>?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    for charge in charges {
      let seconds = charge.blockedSeconds(at: now)
      guard seconds > 0 else { continue }
      // A network block isn't tied to an administrator.
      let reach = charge.counter.reach
      var entry = AuditEntry(
        .administratorBlock, .administrator, reach == .network ? "" : id?.text ?? "", name: "")
      entry.add(.blockedFor, .duration(Int(seconds)))
      if let code = reach.code { entry.add(.blockReach, .code(code)) }
      try entry.record(by: author, at: now, connection)
    }
  }
}

extension ThrottleCounter.Reach {
  fileprivate var code: String? {
    switch self {
    case .network: "network"
    case .nameFromNetwork: "name-from-network"
    case .name: "name"
    case .device: "device"
    case .account: nil
    }
  }
}
