import Crypto
import HTTP
import Identity
import Templating

/// `S/users/{uid}/temporary-code`: generates a temporary code for a user and shows it once.
struct TemporaryCodePage: Sendable {
  let identity: Identity
  let pages: SupportPages
  let view: Template<TemporaryCodeView>
  private let codes = CodesToShow()

  init(identity: Identity, pages: SupportPages, view: Template<TemporaryCodeView>) {
    (self.identity, self.pages, self.view) = (identity, pages, view)
  }

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, try await pages.account(uid, context, identity))
  }

  func make(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await pages.account(uid, context, identity)
    let form = context.signedIn.form
    let answers = ActionInput(form)
    let outcome: ActionOutcome<TemporaryCode>
    do {
      outcome = try await identity.backupCodes.makeTemporaryCode(
        answers.request(context.signedIn), for: account.id, in: context.scope,
        hours: Int(form.trimmed("hours")) ?? 0)
    } catch {
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(
        context, account, answers, hours: form.trimmed("hours"), errors: faults)
    }
    codes.keep(
      outcome.value, for: outcome.renewed?.session ?? context.signedIn.session, account,
      in: context.scope, at: pages.frames.clock.now())
    var response = Response.redirect(to: ConsolePaths.shownCode(context.scope, uid))
    if let renewed = outcome.renewed { pages.ending.keep(renewed, in: &response) }
    return response
  }

  func show(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await pages.account(uid, context, identity)
    let scope = context.scope
    var code: TemporaryCode?
    if context.signedIn.request.method == .get {
      code = codes.take(
        for: context.signedIn.session, account, in: scope, at: pages.frames.clock.now())
    }
    let user = Words.isolated(account.label)
    var frame = try await pages.frames.frame(
      "Temporary code · \(user) · Users", in: context, tab: .users)
    frame.crumbs = Link.crumbs(to: account, in: scope)
    let model = TemporaryCodeView(
      frame: FrameView(frame), account: account, user: UserIdentity(account, in: scope), code: code,
      caution: LockCaution(account, at: pages.frames.clock.now(), in: context),
      back: ConsolePaths.user(scope, uid), again: ConsolePaths.temporaryCode(scope, uid))
    return .html(view.render(model))
  }

  private func page(
    _ context: ScopeContext, _ account: Account, _ answers: ActionInput = ActionInput(),
    hours: String = "", errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let state = try await refusing { try await identity.backupCodes.state(of: account) }
    let settings = try await refusing { try await identity.support.settings(context.scope) }
    let scope = context.scope
    let chosen = BackupCodes.hours.first { String($0) == hours } ?? BackupCodes.hours[0]
    var question = SupportConfirmation(
      title: "Temporary code",
      heading: HTML.heading("Generate a temporary code for", account.label),
      consequences: consequences(account, state, context.signedIn.times),
      button: "Generate code", keep: "Cancel",
      action: ConsolePaths.temporaryCode(scope, account.id.text))
    question.caution = LockCaution(account, at: pages.frames.clock.now(), in: context)
    question.isDestructive = false
    question.choice = SupportChoice(
      name: "hours", label: "Valid for",
      options: BackupCodes.hours.map { hours in
        SupportOption(
          value: String(hours), label: Words.count(hours, "hour", "hours"),
          isChosen: hours == chosen)
      })
    question.reasons = [.lost, .replaced, .locked, .other]
    if !settings.temporaryCodes {
      question.refusal = ActionErrorText.sentence(.switchedOff)
    } else if !account.has(.totp) {
      question.refusal = ActionErrorText.sentence(.noAuthenticator)
    }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }

  private func consequences(
    _ account: Account, _ state: BackupCodeState, _ times: Times
  ) -> [String] {
    [
      "The user can sign in once with this code instead of an authenticator code. Their password is still required.",
      "The code is shown once, for you to read to the caller. Anyone else who hears it also needs the user’s password.",
      state.temporaryUntil.map {
        "The existing temporary code, valid until \(times.words($0)), is revoked."
      },
      pages.notice(to: account),
    ].compactMap { $0 }
  }
}

struct TemporaryCodeView: ViewModel {
  let frame: FrameView
  let account: Account
  let user: UserIdentity
  /// The code; nil if it was already shown.
  let code: TemporaryCode?
  /// A warning that codes are locked; nil if they aren't.
  let caution: LockCaution?
  let back: String
  let again: String

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .object("user") { $0.user },
    .text("userName") { Words.short($0.account.label) },
    .optional("code") { view in
      view.code.map {
        ShownCode(
          code: $0, caution: view.caution, back: view.back, times: view.frame.times)
      }
    },
    .text("back") { $0.back },
    .text("again") { $0.again },
    .flag("isGone") { $0.code == nil },
  ]
}

struct ShownCode: ViewModel {
  let code: TemporaryCode
  let caution: LockCaution?
  let back: String
  let times: Times

  static let keys: Keys<Self> = [
    .text("text") { $0.code.code.revealedText },
    .optional("caution") { $0.caution },
    .list("groups") { SpelledGroup.groups($0.code.code.revealedText) },
    .markup("until") { $0.times.moment($0.code.expiresAt) },
    .text("back") { $0.back },
  ]
}
