public import Crypto
import Database
public import OTP

/// The result of a correct password.
public enum ConsoleSignIn: Sendable {
  /// The administrator has no second factor and is signed in.
  case signedIn(NewConsoleSession)
  /// A second factor is required, with one of the methods; the value is stored in a cookie for the
  /// next step and isn't a session.
  case secondFactorDue(Secret, Set<ReauthenticationMethod>)
}

extension ConsoleSessions {
  /// Signs in with email and password, up to the second factor.
  ///
  /// Known and unknown addresses get the same response in the same time. Failed attempts are
  /// counted before the password is hashed: by network, by name and network, and at a slower rate
  /// by name. A device the administrator has signed in with before has its own counter instead, so
  /// no one can lock them out there.
  public func signIn(
    email: String, password: Secret, address: String, userAgent: String, devices: [String] = [],
    requestID: String = ""
  ) async throws -> ConsoleSignIn {
    do {
      let outcome = try await outcome(
        email: email, password: password, address: address, userAgent: userAgent,
        devices: devices, requestID: requestID)
      store.passwordAttempts.add(.administrator, .correct)
      return outcome
    } catch {
      store.passwordAttempts.add(.administrator, PasswordAttempts.Result(error))
      throw error
    }
  }

  private func outcome(
    email: String, password: Secret, address: String, userAgent: String, devices: [String],
    requestID: String
  ) async throws -> ConsoleSignIn {
    let now = store.clock.now()
    let email = TypedEmail(email)
    let client = ClientAddress(seen: address)
    let devices = self.devices(devices, at: now)
    let taken: Result<Attempt, ConsoleSignInError> =
      try await store.write { connection in
        let row = try connection.first(
          """
          SELECT administrator_id, password_hash FROM administrator
          WHERE email_folded = \(email.folded)
          """
        ) { row in
          (id: try row.next() as ID<Administrator>, hash: try Administrators.hash(&row))
        }
        // The answer doesn't reveal who the break-glass account is.
        let isAdmitted = try row.map { try PasswordSignIn.admits($0.id, connection) } ?? true
        let device = devices.first { $0.administrator == row?.id }
        let counters =
          device.map { [$0.counter] }
          ?? [.network(.consolePasswords(from: client))]
          + ThrottleCounter.name(.consolePasswords(of: email), from: client)
        switch try ThrottleCharge.charge(counters, at: now, connection) {
        case .charged(let charges):
          return .success(
            Attempt(id: row?.id, hash: isAdmitted ? row?.hash : nil, charges: charges))
        case .blocked(let until): return .failure(.throttled(until: until))
        }
      }
    let attempt = try taken.get()
    let (id, charges) = (attempt.id, attempt.charges)
    let matches: Bool
    do { matches = try await hasher.matches(password, attempt.hash, for: .administrators) } catch {
      // An attempt that wasn't checked isn't counted.
      try await store.write { connection in
        for charge in charges { try charge.refund(connection) }
      }
      throw error
    }
    let author = Author(actor: .visitor, address: address, requestID: requestID)
    let outcome: ConsoleSignIn? = try await store.write { connection in
      // Reread in the transaction that starts the session: all may have changed during hashing.
      guard matches, let id, let hash = attempt.hash,
        let current = try Self.credentials(id, at: now, connection),
        current.hash?.encoded == hash.encoded, try PasswordSignIn.admits(id, connection)
      else {
        // The typed name isn't stored, because it may be a password in the wrong field.
        let entry = AuditEntry(
          .administratorSignInRefused, .administrator, id?.text ?? "", name: "")
        try entry.record(by: author, at: now, connection)
        try ThrottleCharge.recordBlocks(charges, of: id, by: author, at: now, connection)
        return nil
      }
      try ThrottleCharge.recordSuccess(charges, connection)
      if !current.methods.isEmpty {
        let entry = AuditEntry(.administratorCodeDue, .administrator, id.text, name: "")
        try entry.record(by: author, at: now, connection)
        let ticket = ConsoleTicket(
          id, secret: try Self.ticketSecret(of: id, isFromProvider: false, connection), at: now,
          random: store.random)
        return .secondFactorDue(try ticket.sealed(.signIn, by: tickets), current.methods)
      }
      let new = try Self.begin(
        id, address: address, userAgent: userAgent, requestID: requestID, at: now,
        random: store.random, connection)
      try notify(
        of: new, from: RequestOrigin(address: address, userAgent: userAgent),
        requestID: requestID, devices, connection)
      return .signedIn(new)
    }
    guard let outcome else { throw ConsoleSignInError.refused }
    return outcome
  }

  /// Completes sign-in with a TOTP code or a recovery code.
  ///
  /// Incorrect codes are counted separately from passwords, and before the code is checked. The
  /// value from the password step is valid once and for ten minutes.
  public func finish(
    _ pending: String, code: TypedCode, address: String, userAgent: String, devices: [String] = [],
    requestID: String = ""
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    guard let ticket = ConsoleTicket(pending, .signIn, at: now, by: tickets) else {
      throw ConsoleSignInError.ended
    }
    let id = ticket.administrator
    let devices = self.devices(devices, at: now)
    let author = Author(actor: .visitor, address: address, requestID: requestID)
    let outcome: Result<NewConsoleSession, ConsoleSignInError> =
      try await store.write { connection in
        guard let methods = try Self.pendingMethods(ticket, at: now, connection) else {
          return .failure(.ended)
        }
        let mayUse =
          try methods.contains(.totp)
          || RecoveryCodes.isCode(code) && Self.acceptsRecoveryCode(of: id, at: now, connection)
        guard mayUse else { return .failure(.passkeyRequired) }
        let proof: AdministratorTOTP.Proof
        switch try totp.check(code, of: id, named: "", by: author, at: now, connection) {
        case .success(let accepted): proof = accepted
        case .failure(.throttled(let until)): return .failure(.throttled(until: until))
        case .failure(.usedCurrentCode): return .failure(.usedCode)
        case .failure: return .failure(.wrongCode)
        }
        guard try ticket.use(connection) else { return .failure(.ended) }
        let new = try Self.begin(
          id, address: address, userAgent: userAgent, requestID: requestID, proof: proof,
          provider: ticket.provider, at: now, random: store.random, connection)
        try notify(
          of: new, from: RequestOrigin(address: address, userAgent: userAgent),
          requestID: requestID, devices, connection)
        return .success(new)
      }
    return try outcome.get()
  }

  /// Returns whether a recovery code can complete a sign-in that passed the password step.
  public func acceptsRecoveryCode(_ pending: String) async throws -> Bool {
    let now = store.clock.now()
    guard let ticket = ConsoleTicket(pending, .signIn, at: now, by: tickets) else { return false }
    return try await store.read { connection in
      guard try Self.isPending(ticket, at: now, connection) else { return false }
      return try Self.acceptsRecoveryCode(of: ticket.administrator, at: now, connection)
    }
  }

  /// Returns whether an administrator has recovery codes, and isn't required to use a passkey: a
  /// recovery code can be relayed like any other.
  private static func acceptsRecoveryCode(
    of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let administrator = try Administrators.record(id, at: now, connection).administrator
    return try RecoveryCodes.left(of: id, connection) > 0
      && !PasskeyRequirement.applies(to: administrator, connection)
  }

  /// Returns the methods that can complete a sign-in that passed the password step; empty if it
  /// can't be completed anymore.
  public func methods(
    _ pending: String
  ) async throws -> Set<ReauthenticationMethod> {
    let now = store.clock.now()
    guard let ticket = ConsoleTicket(pending, .signIn, at: now, by: tickets) else { return [] }
    return try await store.read { connection in
      try Self.pendingMethods(ticket, at: now, connection) ?? []
    }
  }

  /// Returns false if the ticket was used, or the password or factors have changed since.
  static func isPending(
    _ ticket: ConsoleTicket, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try pendingMethods(ticket, at: now, connection) != nil
  }

  private static func pendingMethods(
    _ ticket: ConsoleTicket, at now: Instant, _ connection: borrowing Connection
  ) throws -> Set<ReauthenticationMethod>? {
    guard try !ticket.isUsed(connection),
      let current = try credentials(ticket.administrator, at: now, connection),
      !current.methods.isEmpty,
      ticket.passwordMark == mark(current.hash),
      try allows(ticket, connection)
    else { return nil }
    return current.methods
  }

  /// Returns whether the first step of a ticket is still allowed.
  private static func allows(
    _ ticket: ConsoleTicket, _ connection: borrowing Connection
  ) throws -> Bool {
    guard ticket.provider != nil else {
      // Password sign-in may have been turned off since.
      return try PasswordSignIn.admits(ticket.administrator, connection)
    }
    // The provider may have been replaced since, or the administrator linked with another person.
    guard let link = try AdministratorProviderLink.find(ticket.administrator, connection) else {
      return false
    }
    return try link.issuer == ConsoleProvider.find(connection)?.issuer && link.began(ticket)
  }

  private static func credentials(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> (hash: PasswordHash?, methods: Set<ReauthenticationMethod>)? {
    guard try Administrators.exists(id, connection) else { return nil }
    return (
      try Administrators.passwordHash(of: id, connection),
      try secondSteps(of: id, at: now, connection)
    )
  }

  static func secondSteps(
    of id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Set<ReauthenticationMethod> {
    let methods = try ReauthenticationMethod.all(of: id, connection)
    guard methods.contains(.passkey), try PasskeyRequirement.isOn(connection) else {
      return methods
    }
    // A page that relays a password and a code mustn't get a session.
    let administrator = try Administrators.record(id, at: now, connection).administrator
    return administrator.managesOthers ? [.passkey] : methods
  }

  /// Returns a value that changes with the password and reveals nothing about it.
  static func mark(_ hash: PasswordHash?) -> Secret {
    Secret(Array(Store.digest(hash?.encoded ?? "").prefix(markLength)))
  }

  static let markLength = 16

  private struct Attempt: Sendable {
    let id: ID<Administrator>?
    let hash: PasswordHash?
    let charges: [ThrottleCharge]
  }
}

extension ConsoleSessions {
  /// The time a device is recognized after its last sign-in, in seconds (90 days).
  public static let deviceLifetime: Int64 = 90 * 86_400
  /// The maximum number of administrators that one browser is recognized for.
  private static let mostDevices = 8

  /// Creates a token that identifies the browser as a device of the administrator at the next
  /// sign-in.
  ///
  /// It grants no access: password and code are still required. Failed attempts from the device are
  /// counted separately from all others. A known device keeps its identity and its count of failed
  /// attempts.
  ///
  /// - Returns: The token for a cookie, which isn't stored.
  public func deviceToken(
    for administrator: ID<Administrator>, replacing tokens: [String]
  ) throws -> Secret {
    let now = store.clock.now()
    let known = devices(tokens, at: now).first { $0.administrator == administrator }
    let ticket = ConsoleTicket(
      administrator, secret: Secret([]), id: known?.id, at: now, random: .system)
    return try ticket.sealed(.device, by: deviceSealer)
  }

  /// Emails an administrator about a sign-in from a browser that has no valid token of an earlier
  /// one; the first sign-in isn't reported.
  func notify(
    of new: NewConsoleSession, from origin: RequestOrigin, requestID: String,
    _ devices: [ConsoleTicket], _ connection: borrowing Connection
  ) throws {
    let administrator = new.session.administrator
    try reportBreakGlass(new, from: origin, requestID: requestID, connection)
    guard !devices.contains(where: { $0.administrator == administrator.id }) else { return }
    let signIns = try connection.first(
      "SELECT sign_ins FROM administrator WHERE administrator_id = \(administrator.id)"
    ) { try $0.next() as Int }
    guard let signIns, signIns > 1 else { return }
    let mail = AdministratorSignInMail(
      email: administrator.email, origin: origin, at: new.session.startedAt,
      link: store.links.account)
    try store.outbox.notify(of: mail, to: administrator, connection)
  }

  /// Returns the devices of a browser's tokens, without forged or expired ones.
  func devices(_ tokens: [String], at now: Instant) -> [ConsoleTicket] {
    tokens.prefix(Self.mostDevices).compactMap {
      ConsoleTicket($0, .device, at: now, by: deviceSealer)
    }
  }
}

extension ConsoleTicket {
  var counter: ThrottleCounter {
    ThrottleCounter(.consolePasswords(fromDevice: Hex.encode(id)), .passwords, .device)
  }
}

extension ThrottleCharge {
  /// Writes an audit row for each failed attempt that triggered a block.
  ///
  /// Attempts during a block write nothing, so that they can't flood the log.
  static func recordBlocks(
    _ charges: [ThrottleCharge], of id: ID<Administrator>?, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    for charge in charges {
      let seconds = charge.blockedUntil.seconds - now.seconds
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
