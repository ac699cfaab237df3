import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText
import Templating

/// `S/users/{uid}`: what's wrong with a user's codes, the actions by what callers say, and the records.
struct UserPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<UserView>

  /// Asks the server of a connected project, before the page is read.
  func read(_ context: PoolContext, _ uid: String) async {
    await identity.connections.refresh(ID(uid), in: context.pool)
  }

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    // Agents read it wherever the factors are.
    let hasHistory =
      context.may(.readAudit)
      || context.signedIn.administrator.may(
        .removeFactors, project: pool.project, tenant: pool.tenant)
    let found = try await identity.records(of: ID(uid), in: pool, history: hasHistory)
    guard let records = found else { throw Refusal.notFound }
    let title = Message("{user} · Users", ["user": .name(Formatted.short(records.account.label))])
    var frame = try await frames.frame(
      title, in: context, crumbs: [Link(text: Message("Users"), href: ConsolePaths.users(pool))])
    var notice: Message?
    if let last = identity.connections.lastRead(of: ID(uid), in: pool) {
      let server = Message.Value.text(last.remote.server)
      switch last.read {
      case .read:
        let age = Formatted.duration(seconds: Int(frames.clock.now().seconds - last.at.seconds))
        frame.readAt = Markup(escaping: Message("{time} ago", ["time": .message(age)]))
      case .waiting:
        notice = Message("{server} hasn’t answered yet. Reload the page.", ["server": server])
      case .missing:
        notice = Message(
          "{server} has no such user. A walk says whether they’re gone.", ["server": server])
      case .failed(let cause): notice = cause.message(at: last.remote)
      }
    } else if pool.kind != .hosted {
      notice =
        try await identity.connections.find(pool.project).causeText
        ?? Message("The server of this user wasn’t asked. Reload the page.")
    }
    var model = UserView(
      frame: frame, context: context, records, hasHistory: hasHistory, parts.userActions,
      parts.prose, at: frames.clock.now())
    model.remote = notice
    model.change = try await identity.changeNotice(of: records.account.id, in: pool)
    return .html(view.render(model))
  }
}

struct UserView: ViewModel {
  let frame: FrameView
  let account: Account
  let pool: String
  /// Why the server of a connected project wasn't read now; nil if it was.
  var remote: Message?
  /// A change that's on its way to the server of a connected project, or whose outcome is unknown.
  var change: Notice?
  let chips: Markup
  /// Nil if only the server of the users knows what's wrong.
  let diagnosis: DiagnosisView?
  let notice: Notice?
  /// The form that disables a user of a connected project who reported a change; nil for others.
  let disabling: String?
  /// A pending removal, linked to its approval request.
  let approval: Link?
  let exemption: UserExemption?
  let actions: UserActionsView
  /// The drift of the phone's clock; nil for too few codes.
  var drift: ChartFrame?
  let timeline: UserTimeline
  let factors: [FactorRow]
  let backupCodes: BackupCodesView?
  let guidance: GuidanceAside?
  /// Nil if another server has the sessions.
  let support: UserSupport?
  let facts: [Fact]

  init(
    frame: Frame, context: PoolContext, _ records: UserRecords, hasHistory: Bool,
    _ actions: UserActions, _ prose: GuidanceProse, at now: Instant
  ) {
    let (account, times) = (records.account, frame.times)
    self.frame = FrameView(frame)
    self.account = account
    pool = ApprovalText.place(context.pool)
    chips = AccountChips.problems(account, records.diagnosis.drift?.drift, at: now)
    self.actions = UserActionsView(actions, records, in: context, at: now)
    let isHosted = context.pool.kind == .hosted
    diagnosis =
      isHosted || account.disabled
      ? DiagnosisView(records.diagnosis, of: account, self.actions.remedy, at: now, times) : nil
    notice = Self.notice(account, context)
    disabling = Self.disabling(account, context)
    approval = context.may(.removeFactors) ? records.approval.map { Self.pending($0, times) } : nil
    exemption = records.exemption.map { UserExemption($0, of: account, in: context) }
    drift = DriftTimeline.chart(
      records.codeAttempts.items, records.diagnosis.drift, at: now, times)
    if context.may(.exportUsers) {
      drift?.export = ConsolePaths.codeAttemptsFile(context.pool, account.id.text)
    }
    timeline = UserTimeline(records, showsChanges: hasHistory, in: context, frame.catalog)
    factors = account.factors.map {
      FactorRow($0, records.codeAttempts.items, in: context.pool, at: now, times)
    }
    backupCodes = BackupCodesView(account, records.backupCodes, at: now, in: context)
    guidance =
      account.factors.isEmpty ? nil : GuidanceAside(records.guidance, of: context.pool, prose)
    support = isHosted ? UserSupport(records: records, context: context) : nil
    facts = Self.facts(account, isHosted: isHosted, times: times)
  }

  private static func pending(_ approval: Approval, _ times: Times) -> Link {
    Link(
      text: Message(
        "Pending approval: {action}. Requested by {requester}, expires {until}.",
        [
          "action": .message(ApprovalText.what(approval)),
          "requester": .name(Formatted.short(approval.requesterName)),
          "until": times.value(approval.expiresAt),
        ]), href: approval.address)
  }

  private static func notice(
    _ account: Account, _ context: PoolContext
  ) -> Notice? {
    let refusal = context.signedIn.administrator.obstacle(
      to: .removeFactor, on: account, in: context.pool)
    guard let refusal, context.may(.removeFactors) || context.may(.endSessions) else { return nil }
    var notice = Notice(ActionErrorText.sentence(refusal))
    guard case .changesLocked = refusal else { return notice }
    notice.severity = SeverityMark(.reported)
    if context.may(.protectUsers) {
      notice.link = Link(
        text: Message("Unlock changes…"),
        href: AllowChanges.path(context.pool, account.id.text))
    }
    return notice
  }

  /// The first step after a report in a connected project, where it ends no sessions; nil if it was
  /// taken, and for those who can't.
  private static func disabling(_ account: Account, _ context: PoolContext) -> String? {
    let administrator = context.signedIn.administrator
    guard context.pool.kind != .hosted, account.changesLockedAt != nil, !account.disabled,
      administrator.denial(of: .disableUser, on: account, in: context.pool) == nil
    else { return nil }
    return DisableUser.path(context.pool, account.id.text)
  }

  private static func facts(_ account: Account, isHosted: Bool, times: Times) -> [Fact] {
    var facts: [Fact] = []
    facts.add(Message("Gone since"), account.goneAt.map(times.past))
    if account.email != nil { facts.add(Message("Name"), account.displayName.map(HTML.isolated)) }
    if account.isAnonymous {
      facts.append(Fact(Message("Account type"), Message("anonymous")))
    }
    facts.append(
      Fact(
        Message("Sign-in"),
        account.disabled ? Message("disabled") : Message("enabled")))
    if isHosted { facts.append(password(account, times)) }
    facts.append(Fact(Message("Sign-in methods"), methods(account, isHosted: isHosted)))
    facts.append(Fact(Message("Created"), times.past(account.createdAt)))
    facts.append(
      Fact(Message("Last sign-in"), account.lastLoginAt.map(times.past) ?? AccountChips.never))
    if isHosted {
      facts.append(
        Fact(
          Message("Incorrect codes"),
          Message("{number} in a row", ["number": .number(account.wrongCodes)])))
    }
    facts.add(Message("Custom claims"), account.customAttributes.map(HTML.isolated))
    return facts
  }

  private static let notGiven = Markup(escaping: Message("none"))

  private static func password(_ account: Account, _ times: Times) -> Fact {
    guard account.hasPassword else { return Fact(Message("Password"), notGiven) }
    return Fact(
      Message("Password set"),
      account.passwordUpdatedAt.map(times.day) ?? Markup(escaping: Message("yes")))
  }

  /// Returns a user's first factors, with the email address or ID at each identity provider.
  ///
  /// Another server lists passwords and phones among the providers.
  private static func methods(_ account: Account, isHosted: Bool) -> Markup {
    var own: [Message] = []
    if isHosted, account.hasPassword { own.append(Message("password")) }
    if isHosted, account.phoneNumber != nil { own.append(Message("phone")) }
    if account.isCustomAuth { own.append(Message("custom token")) }
    if own.isEmpty, account.providers.isEmpty {
      return Markup(escaping: Message("No sign-in method"))
    }
    let links = account.providers.map { link in
      Markup(
        html: Message(
          "{provider}: {account}",
          ["provider": .name(link.provider), "account": .name(link.email ?? link.rawID)]))
    }
    return Markup(
      joining: (own.isEmpty ? [] : [Markup(escaping: .value(.sequence(own)))]) + links,
      separator: "<br>")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.account.visibleName ?? $0.account.label },
    .flag("isEmail") { $0.account.visibleName == nil && $0.account.email != nil },
    .text("email") { $0.account.visibleName == nil ? nil : $0.account.email },
    .text("phone") { $0.account.label == $0.account.phoneNumber ? nil : $0.account.phoneNumber },
    .markup("verification") { AccountChips.verification($0.account) },
    .flag("hasPhone") { $0.account.phoneNumber != nil },
    .text(\.pool),
    .text("uid") { $0.account.id.text },
    .text(\.remote),
    .markup(\.chips),
    .optional(\.diagnosis),
    .optional(\.notice),
    .text(\.disabling),
    .optional(\.change),
    .optional(\.approval),
    .optional(\.exemption),
    .object(\.actions),
    .optional(\.drift),
    .object(\.timeline),
    .text("factorCount") {
      $0.factors.isEmpty
        ? nil
        : Message(
          one: "{count} factor", other: "{count} factors", ["count": .number($0.factors.count)])
    },
    .list(\.factors),
    .optional(\.backupCodes),
    .optional(\.guidance),
    .optional(\.support),
    .markup("created") { $0.frame.times.day($0.account.createdAt) },
    .list(\.facts),
  ]
}
