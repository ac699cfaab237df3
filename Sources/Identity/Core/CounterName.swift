import Database

/// The name of a stored counter: what it counts, and for whom.
///
/// All names are composed here. One that anyone can choose, such as an email address that was typed
/// in, is counted for the pool that was called, and so is the network of an address that a backend
/// forwarded. Only a network that was seen on the connection is counted across pools.
struct CounterName: Sendable, Equatable {
  /// What is counted; the raw value is the first word of the stored name, or the first two.
  enum Kind: String, CaseIterable, Sendable {
    case passwordsFromNetwork = "address"
    case passwordsOfEmail = "email"
    case signUpsFromNetwork = "sign-ups"
    case phoneSignInCodes = "sms code"
    case requestedMessagesToNumber = "sms number"
    case requestedMessagesFromNetwork = "sms network"
    case enrollmentMessagesToNumber = "sms enrollment-number"
    case enrollmentMessagesFromNetwork = "sms enrollment-network"
    case secondFactorMessagesToNumber = "sms second-factor-number"
    case messagesOfAccount = "sms account"
    case openMessages = "sms open"
    case openMessagesFromNetwork = "sms open-network"
    case requestedMailsForAddress = "mail for"
    case requestedMailsToAddress = "mail to"
    case requestedMailsFromNetwork = "mail from"
    case warningsToAddress = "warning to"
    case enrollmentLinksToAddress = "enrollment to"
    case enrollmentLinksOfPool = "enrollment many"
    case callerCodesToUser = "caller-code user"
    case callerCodesOfAgent = "caller-code agent"
    case linkCodesToUser = "link-code user"
    case factorChangesOfToken = "token-factor-changes"
    case ownChanges = "own"
    case shownUsers = "shown"
    case setupCodes = "setup"
    case consolePasswordsFromNetwork = "console address"
    case consolePasskeysFromNetwork = "console passkey"
    case consoleProviderFromNetwork = "console provider"
    case consolePasswordsOfEmail = "administrator"
    case consolePasswordsFromDevice = "administrator device"
    case administratorPasswords = "administrator password"
    case administratorCodes = "administrator code"
    case administratorPasskeys = "administrator passkey"
  }

  let kind: Kind
  let text: String

  func from(_ client: ClientAddress) -> CounterName {
    CounterName(kind, stored: "\(text) \(client.network)")
  }

  private init(_ kind: Kind, stored text: String) { (self.kind, self.text) = (kind, text) }

  private init(_ kind: Kind, _ key: String) {
    (self.kind, text) = (kind, "\(kind.rawValue) \(key)")
  }
}

// MARK: - Counters of pools

extension CounterName {
  /// Returns the beginnings of the names of all counters of a pool.
  static func all(of pool: Int64) -> [CounterName] {
    Kind.allCases.filter(\.beginsWithPool).map { CounterName($0, "\(pool)") }
  }

  static func passwords(from client: ClientAddress, in pool: Int64) -> CounterName {
    CounterName(.passwordsFromNetwork, client.network(in: pool))
  }

  static func passwords(of email: TypedEmail, in pool: Int64) -> CounterName {
    CounterName(.passwordsOfEmail, "\(pool) \(email.digest)")
  }

  /// Accounts that a network creates in a project, including its tenants.
  static func signUps(from client: ClientAddress, in pool: Int64) -> CounterName {
    CounterName(.signUpsFromNetwork, "\(pool) \(client.network)")
  }

  static func phoneSignInCodes(of phone: String, in pool: Int64) -> CounterName {
    CounterName(.phoneSignInCodes, "\(pool) \(phone)")
  }

  /// Text messages to a number that anyone can request.
  static func requestedMessages(to phone: String, in pool: Int64) -> CounterName {
    CounterName(.requestedMessagesToNumber, "\(pool) \(phone)")
  }

  static func requestedMessages(from client: ClientAddress, in pool: Int64) -> CounterName {
    CounterName(.requestedMessagesFromNetwork, client.network(in: pool))
  }

  /// Text messages that enroll a number, which need a session.
  static func enrollmentMessages(to phone: String, in pool: Int64) -> CounterName {
    CounterName(.enrollmentMessagesToNumber, "\(pool) \(phone)")
  }

  static func enrollmentMessages(from client: ClientAddress, in pool: Int64) -> CounterName {
    CounterName(.enrollmentMessagesFromNetwork, client.network(in: pool))
  }

  /// Text messages to the number of a second factor, after the first factor was proven.
  ///
  /// Neither requested messages nor another account with the same number can use them up.
  static func secondFactorMessages(to phone: String, of account: Int64) -> CounterName {
    CounterName(.secondFactorMessagesToNumber, "\(account) \(phone)")
  }

  /// Text messages for one account, to any number.
  static func messages(of account: Int64) -> CounterName {
    CounterName(.messagesOfAccount, "\(account)")
  }

  /// Text messages of a pool to numbers of a region that anyone can request.
  static func openMessages(to region: String, in pool: Int64) -> CounterName {
    CounterName(.openMessages, "\(pool) \(region)")
  }

  static func openMessages(
    to region: String, from client: ClientAddress, in pool: Int64
  ) -> CounterName {
    CounterName(.openMessagesFromNetwork, "\(pool) \(region) \(client.network)")
  }

  /// Emails about the account with an address, which anyone can request.
  ///
  /// An address without an account is counted in the same way, so the limit doesn't reveal accounts.
  static func requestedMails(for email: String, in pool: Int64) -> CounterName {
    CounterName(.requestedMailsForAddress, "\(pool) \(TypedEmail(email).digest)")
  }

  static func requestedMails(to email: String, in pool: Int64) -> CounterName {
    CounterName(.requestedMailsToAddress, "\(pool) \(TypedEmail(email).digest)")
  }

  static func requestedMails(from client: ClientAddress, in pool: Int64) -> CounterName {
    CounterName(.requestedMailsFromNetwork, client.network(in: pool))
  }

  /// Emails that can undo a change.
  ///
  /// They're counted separately, so that an attacker can't suppress the warning of a change by
  /// requesting other emails.
  static func warnings(to email: String, in pool: Int64) -> CounterName {
    CounterName(.warningsToAddress, "\(pool) \(TypedEmail(email).digest)")
  }

  /// Enrollment links that refused sign-ins send.
  ///
  /// They're counted separately, so that other emails, which anyone can request, can't use up the
  /// links of a user who has to enroll.
  static func enrollmentLinks(to email: String, in pool: Int64) -> CounterName {
    CounterName(.enrollmentLinksToAddress, "\(pool) \(TypedEmail(email).digest)")
  }

  /// Enrollment links that administrators send to many users.
  static func enrollmentLinks(in pool: Int64) -> CounterName {
    CounterName(.enrollmentLinksOfPool, "\(pool)")
  }

  static func callerCodes(to account: Int64) -> CounterName {
    CounterName(.callerCodesToUser, "\(account)")
  }

  static func callerCodes(of agent: ID<Administrator>) -> CounterName {
    CounterName(.callerCodesOfAgent, agent.text)
  }

  /// Codes that the page of a campaign's link sends, which anyone with the link can request.
  static func linkCodes(to account: Int64) -> CounterName {
    CounterName(.linkCodesToUser, "\(account)")
  }

  static func factorChanges(of token: ID<ServiceToken>, in pool: Int64) -> CounterName {
    CounterName(.factorChangesOfToken, "\(token.text) \(pool)")
  }

  static func ownChanges(_ change: OwnChange, of account: Int64) -> CounterName {
    CounterName(.ownChanges, "\(change.rawValue) \(account)")
  }
}

// MARK: - Counters of the console

extension CounterName {
  static func setupCodes(from client: ClientAddress) -> CounterName {
    CounterName(.setupCodes, client.network)
  }

  static func consolePasswords(from client: ClientAddress) -> CounterName {
    CounterName(.consolePasswordsFromNetwork, client.network)
  }

  static func consolePasskeys(from client: ClientAddress) -> CounterName {
    CounterName(.consolePasskeysFromNetwork, client.network)
  }

  static func consoleProvider(from client: ClientAddress) -> CounterName {
    CounterName(.consoleProviderFromNetwork, client.network)
  }

  static func consolePasswords(of email: TypedEmail) -> CounterName {
    CounterName(.consolePasswordsOfEmail, "\(email.digest)")
  }

  static func consolePasswords(fromDevice id: String) -> CounterName {
    CounterName(.consolePasswordsFromDevice, id)
  }

  static func passwords(of administrator: ID<Administrator>) -> CounterName {
    CounterName(.administratorPasswords, administrator.text)
  }

  static func codes(of administrator: ID<Administrator>) -> CounterName {
    CounterName(.administratorCodes, administrator.text)
  }

  static func passkeys(of administrator: ID<Administrator>) -> CounterName {
    CounterName(.administratorPasskeys, administrator.text)
  }

  /// Users of a pool whom lists showed to an administrator in an hour, counted from 1970.
  static func shownUsers(
    to administrator: ID<Administrator>, inHour hour: Int64, of project: ID<Project>,
    _ tenant: ID<Tenant>?
  ) -> CounterName {
    CounterName(
      .shownUsers, "\(hour) \(administrator.text) \(project.text) \(tenant?.text ?? "")")
  }

  /// Returns the beginning of the names of these counters, and what those of earlier hours are below;
  /// until 2084, hours have six digits.
  static func shownUsers(beforeHour hour: Int64) -> (first: String, end: String) {
    let first = Kind.shownUsers.rawValue
    return (first + " ", "\(first) \(hour)")
  }
}

extension CounterName.Kind {
  /// Whether the names begin with the pool, at least those of forwarded addresses.
  fileprivate var beginsWithPool: Bool {
    switch self {
    case .passwordsFromNetwork, .passwordsOfEmail, .signUpsFromNetwork, .phoneSignInCodes,
      .requestedMessagesToNumber, .requestedMessagesFromNetwork, .enrollmentMessagesToNumber,
      .enrollmentMessagesFromNetwork, .openMessages, .openMessagesFromNetwork,
      .requestedMailsForAddress, .requestedMailsToAddress,
      .requestedMailsFromNetwork, .warningsToAddress, .enrollmentLinksToAddress,
      .enrollmentLinksOfPool:
      true
    case .secondFactorMessagesToNumber, .messagesOfAccount, .callerCodesToUser,
      .callerCodesOfAgent, .linkCodesToUser, .factorChangesOfToken, .ownChanges, .shownUsers,
      .setupCodes,
      .consolePasswordsFromNetwork, .consolePasskeysFromNetwork, .consoleProviderFromNetwork,
      .consolePasswordsOfEmail, .consolePasswordsFromDevice, .administratorPasswords,
      .administratorCodes, .administratorPasskeys:
      false
    }
  }
}

enum HourlyQuota {
  private static let window: Int64 = 3_600

  /// Counts an action against a limit.
  ///
  /// The limit is that of an hour that begins with the first action, or of a longer period that
  /// ends at `end`. Rolling the transaction back undoes the count. Returns nil if the action is
  /// within the limit, otherwise the time of the next possible attempt.
  static func take(
    _ name: CounterName, _ amount: Int = 1, limit: Int, until end: Instant? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    let current = try current(name, until: end, at: now, connection)
    if let current, current.count + amount > limit { return current.end }
    let end = current?.end ?? end ?? now.advanced(bySeconds: window)
    let count = (current?.count ?? 0) + amount
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name.text), \(count), 0, \(end))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = 0, expires_at = excluded.expires_at
      """)
    return nil
  }

  /// Returns the time of the next possible action if the limit is reached, without counting one.
  static func exhausted(
    _ name: CounterName, limit: Int, until end: Instant? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    try current(name, until: end, at: now, connection).flatMap {
      $0.count >= limit ? $0.end : nil
    }
  }

  private static func current(
    _ name: CounterName, until end: Instant?, at now: Instant, _ connection: borrowing Connection
  ) throws -> (count: Int, end: Instant)? {
    let row = try connection.first(
      "SELECT failures, expires_at FROM throttle WHERE name = \(name.text)"
    ) { row in (count: try row.next() as Int, end: try row.next() as Instant) }
    let longest = end.map { $0.seconds - now.seconds } ?? window
    return row.flatMap { $0.end.pending(for: longest, at: now) == nil ? nil : $0 }
  }
}
