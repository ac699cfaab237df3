import Database

/// Who performs an action, and how they may.
public enum Caller: Sendable {
  /// An administrator in the console, with what they entered.
  case console(ActionRequest)
  /// A program or a command, whose permission its surface has checked, with a command's reason.
  case program(Author, because: String? = nil)

  var author: Author {
    switch self {
    case .console(let request): request.author
    case .program(let author, _): author
    }
  }

  var request: ActionRequest? {
    if case .console(let request) = self { request } else { nil }
  }

  var reason: String? {
    if case .program(_, let reason) = self { reason } else { nil }
  }
}

struct ActionContext: Sendable {
  let author: Author
  let now: Instant
  let profile: Profile
  let outbox: Outbox
  var reason: String?
  /// The name of the second administrator who approved the action; nil if no approval was needed.
  var approver: String?
  /// The number of the intent that it carries out; nil for what's done here.
  var intent: Int64?
  /// What an administrator entered; nil for a program.
  var request: ActionRequest?
  /// The pool's rules, if they apply to the action.
  var rules = SupportRules()
  /// The administrator with their current grants; nil for a program.
  var holder: Administrator?
  /// The number of actions that the agent had left in this hour before this one.
  var actionsLeft = 0
  /// The account whose caller was verified, and how.
  fileprivate var caller: (account: Account, proof: CallerProof)?
  fileprivate var isJustified = false

  var callerProof: CallerProof? { caller?.proof }

  /// The identity checks that the administrator completed: none where no reason is asked for.
  var proof: String {
    request?.reason == nil ? "" : rules.identityProof.joined(separator: "\n")
  }

  /// Writes the action's audit entry with the reason and the proof.
  ///
  /// `isDone` is false for a try that changes nothing, after which the caller's code stays valid.
  func record(
    _ entry: AuditEntry, isDone: Bool = true, _ connection: borrowing Connection
  ) throws {
    var entry = entry
    if let reason { entry.note = reason }
    if let approver { entry.add(.approver, .text(approver)) }
    if let intent { entry.add(.changeRequest, .number(Int(intent))) }
    if let caller {
      entry.add(.callerVerification, .code(caller.proof.rawValue))
      if isDone, let agent = request?.agent.administrator.id {
        try CallerCode.delete(caller.account, by: agent, connection)
      }
    }
    if isJustified, let request {
      entry.justify(
        request.reason, note: request.note, ticket: request.ticket, proof: proof)
    }
    try entry.record(by: author, at: now, connection)
  }
}

/// Users of a pool, actions on whom count toward the hourly limit.
struct SupportScope: Sendable {
  let pool: Pool
  let rules: SupportRules
  /// The account whose marks can prevent the action, and whose user may be the caller; nil for
  /// several users.
  var account: Account?
  /// How many actions it is, if it needs no approval.
  var count = 1
}

/// What an action is about: where it's authorized, and what's read before.
struct ActionSubject<Content: Sendable>: Sendable {
  /// What was read, and what follows from it for the authorization.
  struct Found: Sendable {
    let content: Content
    /// The action whose requirements apply; nil for the one that was asked for.
    var action: ConsoleAction?
    /// The users, if the action is on users.
    var support: SupportScope?
    /// What prevents the action of an administrator who has the permission.
    var denial: ActionDenial?
    /// The validation errors in the action's own fields.
    var inputErrors: [ActionInputError] = []
  }

  let target: ActionTarget
  /// Whether only administrators with the permission can learn the error of a failed read.
  var isReadWithPermission = false
  let read: @Sendable (ActionContext, borrowing Connection) throws -> Found
}

extension ActionSubject where Content == Account {
  /// One user, whose marks can prevent the action, who may be the caller, and on whom it counts.
  ///
  /// `requiring` returns the action whose requirements apply instead: a suspension that ends earlier
  /// requires what ending it does. `inputErrors` returns the errors in the action's own fields.
  static func user(
    _ id: ID<Account>, in pool: Pool,
    requiring action: @escaping @Sendable (Account, Instant) -> ConsoleAction? = { _, _ in nil },
    inputErrors: @escaping @Sendable (Account, Instant) -> [ActionInputError] = { _, _ in [] }
  ) -> Self {
    Self(target: ActionTarget(pool)) { context, connection in
      guard let account = try AccountRecord.find(pool, id, connection) else {
        throw ActionDenial.accountNotFound
      }
      return Found(
        content: account, action: action(account, context.now),
        support: SupportScope(
          pool: pool, rules: try SupportRules.find(pool, connection), account: account),
        inputErrors: inputErrors(account, context.now))
    }
  }
}

/// What's to change.
enum ActionPlan<Details: Sendable, Value: Sendable> {
  case nothing(Value)
  case change(Details)
  /// A change of a policy or a user, which is made here, or requested where the pool is; the closure
  /// returns the outcome of a request by its number.
  case directory(Details, DirectoryChange, requested: @Sendable (Int64) -> Value)
  /// A second administrator has to approve it; the closure returns the outcome of the request, which
  /// expires at a time.
  case approval(
    NewApproval, @Sendable (_ expiry: Instant, borrowing Connection) throws -> Value)
}

/// The body of an action, run in the transaction that authorized it.
typealias Action<Value> = @Sendable (ActionContext, borrowing Connection) throws -> Value

extension Store {
  /// Authorizes and performs an action of an administrator or a program in one transaction.
  ///
  /// In this order: whether the kind of pool offers it; a program's token; what it's about is read;
  /// current grants and the session; marks of the account; the caller's code; the hourly limit; the
  /// input and re-authentication; the plan; a second approver; and the change with its audit entries
  /// and its count.
  ///
  /// A denial is committed, since an incorrect code must be counted. An error of a closure rolls
  /// everything back, including the use of a code. Closures may be called more than once, because a
  /// database can repeat a transaction.
  ///
  /// The order differs for some actions:
  /// * Those that unblock an agent, or change support rules or the re-authentication interval, are
  ///   read between grants and session, so that only administrators with the permission learn that
  ///   there's nothing to change, and without a code.
  /// * Marks, caller, and limit are only for actions on users. One on many users has no account, so
  ///   it's only limited.
  func run<Content: Sendable, Details: Sendable, Value: Sendable>(
    _ action: ConsoleAction, by caller: Caller, on subject: ActionSubject<Content>,
    plan:
      @escaping @Sendable (Content, ActionContext, borrowing Connection) throws
      -> ActionPlan<Details, Value>,
    apply: @escaping @Sendable (Details, ActionContext, borrowing Connection) throws -> Value
  ) async throws -> ActionOutcome<Value> {
    try subject.target.check(action)
    let now = clock.now()
    let result: Result<ActionOutcome<Value>, ActionDenial> = try await write(by: caller.author) {
      [self] connection in
      var context = context(caller.author, at: now, because: caller.reason)
      let found: ActionSubject<Content>.Found
      var renewed: NewConsoleSession?
      if let request = caller.request {
        switch try authorization.admit(request, action, to: subject, &context, connection) {
        case .failure(let denial): return .failure(denial)
        case .success(let admitted): (found, renewed) = admitted
        }
      } else {
        found = try subject.read(context, connection)
        context.rules = found.support?.rules ?? context.rules
      }
      let (value, count): (Value, Int) =
        switch try plan(found.content, context, connection) {
        case .nothing(let value): (value, 0)
        case .approval(let approval, let outcome):
          (try outcome(try approval.ask(context, connection), connection), 1)
        case .change(let details):
          (try apply(details, context, connection), found.support?.count ?? 0)
        case .directory(let details, let change, let requested):
          if let pool = subject.target.pool, pool.kind != .hosted {
            (
              requested(
                try change.request(
                  of: found.support?.account, in: pool, self, context, connection)),
              found.support?.count ?? 0
            )
          } else {
            (try apply(details, context, connection), found.support?.count ?? 0)
          }
        }
      if let agent = context.request?.agent.administrator.id, let pool = found.support?.pool {
        for _ in 0..<count { try HourlyLimit.count(agent, in: pool, at: now, connection) }
      }
      return .success(ActionOutcome(value: value, renewed: renewed))
    }
    return try result.get()
  }

  /// Runs an action that changes nothing that could be stored elsewhere.
  func run<Content: Sendable, Value: Sendable>(
    _ action: ConsoleAction, by caller: Caller, on subject: ActionSubject<Content>,
    apply: @escaping @Sendable (Content, ActionContext, borrowing Connection) throws -> Value
  ) async throws -> ActionOutcome<Value> {
    try await run(
      action, by: caller, on: subject, plan: { content, _, _ in .change(content) }, apply: apply)
  }

  /// Runs an action whose requirements don't depend on stored data.
  func run<Value: Sendable>(
    _ action: ConsoleAction, by caller: Caller, in target: ActionTarget,
    apply: @escaping Action<Value>
  ) async throws -> ActionOutcome<Value> {
    try await run(
      action, by: caller,
      on: ActionSubject(target: target) { _, _ in ActionSubject<Void>.Found(content: ()) }
    ) { _, context, connection in try apply(context, connection) }
  }

  var authorization: ActionAuthorization { ActionAuthorization(store: self) }

  func context(_ author: Author, at now: Instant, because reason: String? = nil) -> ActionContext {
    ActionContext(author: author, now: now, profile: profile, outbox: outbox, reason: reason)
  }
}

extension ActionAuthorization {
  /// Admits an administrator to an action, in the order of ``Store/run(_:by:on:plan:apply:)``.
  ///
  /// - Returns: What the action is about, and the session under its new token if a proof was
  ///   required and accepted.
  fileprivate func admit<Content: Sendable>(
    _ request: ActionRequest, _ asked: ConsoleAction, to subject: ActionSubject<Content>,
    _ context: inout ActionContext, _ connection: borrowing Connection
  ) throws -> Result<(ActionSubject<Content>.Found, NewConsoleSession?), ActionDenial> {
    let now = context.now
    context.request = request
    let early = try subject.isReadWithPermission ? nil : subject.read(context, connection)
    let action = early?.action ?? asked
    let requirements = action.requirements
    guard
      let holder = try Self.permitted(
        requirements.permission, request.agent, in: subject.target, at: now, connection)
    else { return .failure(.notAllowed) }
    context.holder = holder
    let found = try early ?? subject.read(context, connection)
    guard early != nil || found.action == nil else {
      throw Failure("an action chosen after its permission was checked")
    }
    let proofs = try SessionProofs.find(request.agent, at: now, connection)
    guard let proofs, proofs.isOpen else { return .failure(.sessionEnded) }
    var faults = found.inputErrors
    if let support = found.support, let account = support.account,
      let denial = holder.obstacle(to: action, on: account, in: support.pool)
    {
      return .failure(denial)
    }
    if let denial = found.denial { return .failure(denial) }
    if let support = found.support {
      let (pool, rules) = (support.pool, support.rules)
      context.rules = rules
      if let account = support.account {
        switch try CallerCheck.check(action, account, in: pool, context, connection) {
        case .unverified: break
        case .verified(let proof): context.caller = (account, proof)
        case .invalid(let fault): faults.insert(fault, at: 0)
        case .impossible: return .failure(.callerUnverifiable)
        }
      }
      // Checked before the input, so that an agent without any actions left needn't fill in the form
      // to ask an owner.
      context.actionsLeft = try HourlyLimit.left(
        for: holder.id, rules, in: pool, at: now, connection)
      guard context.actionsLeft > 0 else {
        try HourlyLimit.block(request, rules, in: pool, at: now, connection)
        return .failure(.held)
      }
    }
    if requirements.reason == .written { context.reason = request.note }
    context.isJustified = requirements.reason == .chosen
    switch try verify(
      action, request, by: holder, proofs, context.rules, inputErrors: faults, at: now, connection)
    {
    case .failure(let denial): return .failure(denial)
    case .success(let renewed): return .success((found, renewed))
    }
  }
}
