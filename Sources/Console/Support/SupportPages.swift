import HTTP
import Identity
import Localization
import Templating

struct SupportPages: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let view: Template<SupportConfirmationView>

  var frames: Frames { ending.frames }
  var support: Support { identity.support }

  func ask(
    _ question: SupportConfirmation, of action: ConsoleAction, _ target: SupportTarget,
    _ input: ActionInput, errors: [FieldError]
  ) async throws -> Response {
    let (context, scope, account) = (target.context, target.scope, question.user)
    let eligibility = try await support.eligibility(
      context.signedIn.session, on: account, in: scope, performing: action, question.rules)
    let question = question.notifying(carriesMail: identity.messages.carriesMail)
    let title = Message(
      "{action} · {user} · Users",
      ["action": .message(question.title), "user": .name(Formatted.short(account.label))])
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = Link.crumbs(to: account, in: scope)
    let refusal =
      question.refusal.map { SupportRefusal($0) }
      ?? SupportRefusal(eligibility, context.signedIn)
    // Without a form, there's no field for the error summary to link to.
    frame.errors = refusal == nil ? errors : []
    let view = FrameView(frame)
    let form =
      refusal == nil
      ? SupportForm(
        frame: view, eligibility: eligibility, answers: input, action: target.address,
        caller: eligibility.caller.map {
          CallerView(
            caller: $0, frame: view, typed: input.callerCode,
            send: ConsolePaths.callerCode(scope, account.id.text), page: target.address,
            carriesMail: identity.messages.carriesMail)
        },
        reasons: question.reasons)
      : nil
    let model = SupportConfirmationView(
      frame: view, question: question, action: target.address,
      user: UserIdentity(account, in: scope), form: form, refusal: refusal,
      csrf: context.signedIn.session.csrfToken,
      back: ConsolePaths.user(scope, account.id.text))
    return .html(self.view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  func typed(_ target: SupportTarget) async -> Form? {
    let signedIn = target.context.signedIn
    return await frames.flashes.form(
      of: target.address, from: signedIn.request, for: signedIn.session)
  }

  /// Redirects after an action, or responds with its file, and sets the session's new token if it
  /// was renewed.
  func leave(_ result: SupportResult, _ target: SupportTarget) -> Response {
    if var file = result.file {
      if let renewed = result.renewed { ending.keep(renewed, in: &file) }
      return file
    }
    return ending.response(
      result.flash, target.context.signedIn, renewed: result.renewed,
      to: result.address ?? target.userPage)
  }

  /// Redirects to the user's page when the action had nothing to act on; for example, after a form
  /// was submitted twice.
  func leave(_ closing: SupportClosing, _ target: SupportTarget) async throws -> Response {
    if closing.checksUser { _ = try await account(target) }
    return leave(SupportResult(Flash(text: closing.text), renewed: nil), target)
  }
}

extension SupportPages {
  func account(_ target: SupportTarget) async throws -> Account {
    let found = try await identity.accounts.find(target.scope, target.user)
    guard let found else { throw Refusal.notFound }
    return found
  }

  func accountWithSessions(_ target: SupportTarget) async throws -> (Account, Int) {
    let account = try await account(target)
    let sessions = try await identity.sessions.count(account)
    return (account, sessions)
  }

  func factor(_ target: SupportTarget) async throws -> Suspension {
    try await support.factor(target.scope, target.user, ID(target.object))
  }
}
