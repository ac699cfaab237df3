import Database
public import OTP

/// Where an action is performed: the instance, a project, a tenant, or several pools.
struct ActionTarget: Sendable {
  private let places: [(project: ID<Project>?, tenant: ID<Tenant>?)]
  /// The one pool that it is; nil if it isn't known.
  private(set) var pool: Pool?

  static let instance = Self(project: nil, tenant: nil)

  init(project: ID<Project>?, tenant: ID<Tenant>? = nil) {
    places = [(project, tenant)]
  }

  init(_ pool: Pool?) {
    self.init(project: pool?.project, tenant: pool?.tenant)
    self.pool = pool
  }

  /// Several pools, in each of which the permission is required; for none, the permission for
  /// any place is enough.
  init(pools: [(project: ID<Project>, tenant: ID<Tenant>?)]) {
    places = pools.map { ($0.project, $0.tenant) }
  }

  /// - Throws: ``ActionDenial/notOffered(_:)`` if the pool doesn't offer an action.
  func check(_ action: ConsoleAction) throws(ActionDenial) {
    try pool?.check(action.requirements.needs)
  }

  fileprivate func permits(_ permission: Permission, to administrator: Administrator) -> Bool {
    guard pool.map({ permission.isOffered(by: $0.kind, at: $0.access) }) ?? true else {
      return false
    }
    guard !places.isEmpty else { return administrator.maySomewhere(permission) }
    return places.allSatisfy {
      administrator.may(permission, project: $0.project, tenant: $0.tenant)
    }
  }
}

/// Authorizes every action of an administrator in the console.
public struct ActionAuthorization: Sendable {
  let store: Store

  /// Returns what an action would require of an administrator now.
  public func eligibility(
    _ action: ConsoleAction, _ session: ConsoleSession
  ) async throws -> ActionEligibility {
    guard action.requirements.reauthentication != .none else {
      return ActionEligibility(action: action, needsReauthentication: false, methods: [])
    }
    let now = store.clock.now()
    return try await store.read { connection in
      let needs = try needsReauthentication(
        action.requirements.reauthentication, session,
        try SessionProofs.find(session, at: now, connection), at: now, connection)
      return ActionEligibility(
        action: action, needsReauthentication: needs,
        methods: try ReauthenticationMethod.all(for: session, connection))
    }
  }

  /// Returns what an action still requires, for a form with other errors.
  public func unmet(
    _ action: ConsoleAction, _ request: ActionRequest
  ) async throws -> [ActionInputError] {
    let now = store.clock.now()
    let rule = action.requirements.reauthentication
    return try await store.read { connection in
      let faults = request.faults(of: action, SupportRules())
      guard rule != .none else { return faults }
      let proofs = try SessionProofs.find(request.agent, at: now, connection)
      guard try needsReauthentication(rule, request.agent, proofs, at: now, connection) else {
        return faults
      }
      let methods = try ReauthenticationMethod.all(for: request.agent, connection)
      guard !methods.isEmpty else { throw ActionDenial.noSecondFactor }
      return faults + [try Self.unverified(request, methods, proofs, at: now, connection)]
    }
  }

  /// Authorizes an action in the transaction that performs it: checks the current permission, that
  /// the session is still open, the reason, and re-authentication if the last one is older than the
  /// interval.
  ///
  /// If anything else is invalid, the proof isn't checked, so it's neither used up nor counted as a
  /// failed attempt. A refusal is returned rather than thrown so that the transaction commits: an
  /// incorrect code must be counted. The identity checks of the support rules are part of the
  /// reason.
  ///
  /// - Returns: The session under its new token, if a proof was required and accepted.
  func authorize(
    _ action: ConsoleAction, _ request: ActionRequest, in target: ActionTarget,
    _ settings: SupportRules = SupportRules(), inputErrors faults: [ActionInputError] = [],
    at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<NewConsoleSession?, ActionDenial> {
    try target.check(action)
    guard
      let holder = try Self.permitted(
        action.requirements.permission, request.agent, in: target, at: now, connection)
    else { return .failure(.notAllowed) }
    let proofs = try SessionProofs.find(request.agent, at: now, connection)
    guard let proofs, proofs.isOpen else { return .failure(.sessionEnded) }
    return try verify(
      action, request, by: holder, proofs, settings, inputErrors: faults, at: now, connection)
  }

  /// Checks what an action requires beyond the permission and the open session of its holder: the
  /// reason, and re-authentication.
  func verify(
    _ action: ConsoleAction, _ request: ActionRequest, by holder: Administrator,
    _ proofs: SessionProofs, _ settings: SupportRules, inputErrors faults: [ActionInputError] = [],
    at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Result<NewConsoleSession?, ActionDenial> {
    let faults =
      faults.filter(\.isFirst) + request.faults(of: action, settings)
      + faults.filter { !$0.isFirst }
    let rule = action.requirements.reauthentication
    guard try needsReauthentication(rule, request.agent, proofs, at: now, connection) else {
      return faults.isEmpty ? .success(nil) : .failure(.answers(faults))
    }
    let methods = try ReauthenticationMethod.all(for: request.agent, connection)
    guard !methods.isEmpty else { return .failure(.noSecondFactor) }
    guard faults.isEmpty, methods.contains(.totp), let code = request.proof.code
    else {
      let error = try Self.unverified(request, methods, proofs, at: now, connection)
      return .failure(.answers(faults + [error]))
    }
    let proof: AdministratorTOTP.Proof
    switch try store.administratorTOTP.check(
      code, of: holder, by: request.author, at: now, connection)
    {
    case .success(let accepted): proof = accepted
    case .failure(.throttled(let until)):
      return .failure(.answers([.throttled(until: until)]))
    case .failure(.usedCurrentCode): return .failure(.answers([.usedCode]))
    case .failure: return .failure(.answers([.wrongCode]))
    }
    let renewed = try ConsoleSessions.reauthenticate(
      request.agent, with: proof, by: request.author, at: now, random: store.random, connection)
    guard let renewed else { return .failure(.sessionEnded) }
    return .success(renewed)
  }

  /// Returns the administrator of a session with their current grants, or why a permission can't be
  /// used in the session now: the administrator doesn't have it anymore, or the session isn't open.
  ///
  /// The session was read before this transaction.
  static func holder(
    of permission: Permission, _ session: ConsoleSession, in target: ActionTarget,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Result<Administrator, ActionDenial> {
    guard let holder = try permitted(permission, session, in: target, at: now, connection) else {
      return .failure(.notAllowed)
    }
    return try ConsoleSessions.isOpen(session, at: now, connection)
      ? .success(holder) : .failure(.sessionEnded)
  }

  /// Returns the administrator of a session with their current grants; nil if they don't have a
  /// permission anymore.
  static func permitted(
    _ permission: Permission, _ session: ConsoleSession, in target: ActionTarget,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    guard let holder = try Administrators.present(session.administrator.id, at: now, connection),
      target.permits(permission, to: holder)
    else { return nil }
    return holder
  }

  private static func unverified(
    _ request: ActionRequest, _ methods: Set<ReauthenticationMethod>, _ proofs: SessionProofs?,
    at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ActionInputError {
    guard methods.contains(.totp) else {
      return methods.contains(.passkey) ? .passkeyRequired : .providerRequired
    }
    let counter = AdministratorTOTP.counter(request.agent.administrator.id)
    if let blocked = try ThrottleCharge.blockedUntil(counter, at: now, connection) {
      return .throttled(until: blocked)
    }
    guard request.proof.isEmpty else { return .codeNotLookedAt }
    return .codeRequired(
      minutes: try proofs?.minutes ?? ReauthenticationInterval.minutes(connection))
  }

  func needsReauthentication(
    _ rule: ReauthenticationRule, _ session: ConsoleSession, _ proofs: SessionProofs?,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard rule != .none else { return false }
    let interval = Int64(try proofs?.minutes ?? ReauthenticationInterval.minutes(connection)) * 60
    func isRecent(_ moment: Instant) -> Bool { moment.isRecent(within: interval, at: now) }
    if let proved = proofs?.secondFactorAt, isRecent(proved) { return false }
    // The provider verified the password, but no second factor.
    if rule == .recent, let provider = proofs?.providerAt, isRecent(provider) { return false }
    // Without a second factor, the sign-in password is the only possible proof.
    guard rule == .recent, isRecent(session.startedAt) else { return true }
    return try !ReauthenticationMethod.all(of: session.administrator.id, connection).isEmpty
  }
}

/// How long a proof allows an administrator's actions, in minutes.
enum ReauthenticationInterval {
  static let stored = InstanceValue("step_up_minutes")
  static let usual = 15
  static let range = 1...240

  static func minutes(_ connection: borrowing Connection) throws -> Int {
    try stored.readNumber(connection).map { Int($0) } ?? usual
  }
}

public enum ReauthenticationMethod: String, CaseIterable, Sendable {
  /// A code of the authenticator app, or a recovery code.
  case totp
  case passkey
  /// A sign-in at the provider with which the administrator is linked; a second factor if the
  /// provider says so.
  case provider

  static func all(totp: Bool, passkey: Bool) -> Set<Self> {
    Set([totp ? .totp : nil, passkey ? .passkey : nil].compactMap { $0 })
  }

  /// Returns the second factors of an administrator, which aren't the provider.
  static func all(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Set<Self> {
    try connection.first(
      """
      SELECT totp_enrolled_at IS NOT NULL,
        EXISTS (SELECT 1 FROM passkey WHERE administrator_id = \(id))
      FROM administrator WHERE administrator_id = \(id)
      """
    ) { all(totp: try $0.next(), passkey: try $0.next()) } ?? []
  }

  /// Returns the second factors of a session's administrator, and the provider if they're linked.
  static func all(
    for session: ConsoleSession, _ connection: borrowing Connection
  ) throws -> Set<Self> {
    let factors = try all(of: session.administrator.id, connection)
    return session.provider.name == nil ? factors : factors.union([.provider])
  }
}

/// The proof that an administrator submits to re-authenticate.
///
/// Its content depends on the method; only the interface that reads it and the authorization that
/// verifies it access it.
public struct ReauthenticationProof: Sendable {
  /// A code that isn't empty; nil for none.
  let code: TypedCode?

  public static let none = Self(code: nil)

  public static func code(_ typed: TypedCode) -> Self { Self(code: typed.isEmpty ? nil : typed) }

  public var isEmpty: Bool { code == nil }
}

/// What an action would require of an administrator now, for the confirmation page.
public struct ActionEligibility: Sendable {
  public let action: ConsoleAction
  public let needsReauthentication: Bool
  /// The administrator's methods; empty if they must set up a second factor first.
  public let methods: Set<ReauthenticationMethod>

  /// Whether the form of the action can't be submitted now: it has a field for a code only, so the
  /// administrator must set up a second factor or use their passkey first.
  public var isBlocked: Bool { needsReauthentication && !methods.contains(.totp) }
}
