import Database
import JSON
import Text

/// The number of accounts that a network can create in an hour without an administrator or a service
/// token.
///
/// A project changes it with the member `quota.signUpQuotaConfig` of its configuration, for a period
/// if that has one.
enum SignUpQuota {
  /// The number without a setting, as in Google's service.
  static let standard = 100
  /// The highest number that a project can set, as in Google's service.
  private static let highest = 1_000

  /// - Throws: ``CallError/tooManySignUps(until:)``, and database errors.
  static func count(
    by author: Author, in pool: Pool, _ profile: Profile, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard profile == .standalone, !author.isOfBackend else { return }
    let project = try Pools.find(project: pool.project, tenant: nil, connection)
    let members: String? = try connection.first(
      "SELECT members FROM scope WHERE scope_key = \(project.key)"
    ) { try $0.next() }
    let limit = limit(
      in: try? JSON.parse(Array((members ?? "{}").utf8)), at: now)
    // One project can't use up the accounts of another.
    let name = CounterName.signUps(from: author.client, in: project.key)
    if let until = try HourlyQuota.take(name, limit: limit, at: now, connection) {
      throw CallError.tooManySignUps(until: until)
    }
  }

  static func limit(in members: JSON?, at now: Instant) -> Int {
    let config = members?["quota"]?["signUpQuotaConfig"]
    guard let quota = config?["quota"]?.textValue.flatMap({ Int($0.text) }),
      (1...highest).contains(quota)
    else { return standard }
    if let start = config?["startTime"]?.textValue {
      guard let start = Instant(rfc3339: start.text), start <= now else { return standard }
      if let duration = config?["quotaDuration"]?.textValue {
        guard let seconds = seconds(duration.text), start.advanced(bySeconds: seconds) > now else {
          return standard
        }
      }
    }
    return quota
  }

  /// Parses the whole seconds of a duration such as `604800s`.
  private static func seconds(_ text: String) -> Int64? {
    guard text.utf8.count < 16, text.utf8.last == UInt8(ascii: "s") else { return nil }
    return Int64(text.dropLast().prefix { $0 != "." })
  }
}

extension Account {
  /// Counts the user's sign-up for the network, and records it in the audit log.
  ///
  /// - Throws: ``CallError/tooManySignUps(until:)``, and database errors.
  func recordSignUp(
    in pool: Pool, method: SignInProvider? = nil, by author: Author, _ profile: Profile,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    try SignUpQuota.count(by: author, in: pool, profile, at: now, connection)
    var entry = AuditEntry(.accountSignUp, of: self, in: pool)
    describe(in: &entry, isNew: true)
    if let method { entry.add(.signUpMethod, .code(method.rawValue)) }
    try entry.record(by: author.user(self), limitedBy: .account, at: now, connection)
  }
}

extension Author {
  /// Creates an author for the account's user, with the address and ID of this request.
  func user(_ account: Account) -> Author {
    var author = self
    author.actor = .user(account.id)
    return author
  }
}
