import Database

/// A sign-out at the provider, which also ends sign-ins that still wait for a second factor.
///
/// Those are known only to the browser, so the sign-out is kept among the used tickets for as long
/// as one of them could be completed.
struct ProviderSignOut {
  /// The session at the provider that ended, or the administrator all of whose sessions did.
  private let name: String

  /// Creates the sign-out of one session at an issuer.
  init(session: String, at issuer: String) { name = "session\n\(issuer)\n\(session)" }

  /// Creates the sign-out of an administrator from all sessions at an issuer.
  init(_ administrator: ID<Administrator>, at issuer: String) {
    name = "administrator\n\(issuer)\n\(administrator.text)"
  }

  private var digest: [UInt8] { Store.digest("sign-out\n\(name)") }

  func record(at now: Instant, _ connection: borrowing Connection) throws {
    _ = try ConsoleTicket.use(TimeOrderedID.make(at: now, ending: digest), connection)
  }

  /// Returns whether one of these happened since a sign-in.
  static func any(
    of signOuts: [ProviderSignOut], since start: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let suffixes = signOuts.map { $0.digest.prefix(8) }
    let ids = try connection.all(
      """
      SELECT ticket_id FROM ticket
      WHERE scope_key = 0 AND ticket_id >= \(TimeOrderedID.first(at: start))
      """
    ) { try $0.value(0) as [UInt8] }
    return ids.contains { id in suffixes.contains { id.suffix(8).elementsEqual($0) } }
  }
}
