import HTTP
import Identity
import Templating

/// Renders the confirmation pages of support actions and redirects after them.
struct SupportPages: Sendable {
  let support: Support
  let ending: SupportRedirect
  let view: Template<SupportConfirmationView>

  var frames: Frames { ending.frames }

  /// Returns a confirmation page, with the input and its errors.
  func ask(
    _ question: SupportConfirmation, about account: Account, _ context: ScopeContext,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let standing: SupportEligibility
    do {
      standing = try await support.standing(
        context.signedIn.session, on: account.id, in: scope,
        performing: question.performs)
    } catch {
      guard case .accountNotFound = error else { throw .unavailable(error) }
      throw .notFound
    }
    let user = Words.isolated(account.label)
    var frame = try await frames.frame(
      "\(question.title) · \(user) · Users", in: context, tab: .users)
    frame.crumbs = Link.crumbs(to: account, in: scope)
    let refusal =
      question.refusal.map { SupportRefusal($0) }
      ?? SupportRefusal(standing, context.signedIn.session)
    // Without a form, there's no field for the error summary to link to.
    frame.errors = refusal == nil ? errors : []
    let view = FrameView(frame)
    let form =
      refusal == nil
      ? SupportForm(
        frame: view, standing: standing, answers: answers, reasons: question.reasons,
        isNote: question.isNote)
      : nil
    let model = SupportConfirmationView(
      frame: view, question: question, user: UserIdentity(account, in: scope), form: form,
      refusal: refusal,
      csrf: context.signedIn.session.csrfToken,
      back: ConsolePaths.user(scope, account.id.text))
    return .html(self.view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  /// Redirects to the user's page when the action had nothing to change.
  func leaveUnchanged(_ uid: String, _ context: ScopeContext) -> Response {
    frames.leave("No changes made.", for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }

  /// Redirects to the user's page when the object of a form no longer exists; for example, after a
  /// form was submitted twice.
  ///
  /// - Throws: ``Refusal/notFound`` if there's no such user.
  func leaveGone(
    _ text: String, _ uid: String, _ context: ScopeContext
  ) async throws(Refusal) -> Response {
    do {
      _ = try await support.standing(context.signedIn.session, on: ID(uid), in: context.scope)
    } catch {
      guard case .accountNotFound = error else { throw .unavailable(error) }
      throw .notFound
    }
    frames.leave(text, for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }

  /// Redirects to the user's page, which confirms the action.
  func leave(
    _ flash: Flash, _ account: Account, _ context: ScopeContext, renewed: NewConsoleSession?
  ) -> Response {
    ending.response(
      flash, context.signedIn, renewed: renewed,
      to: ConsolePaths.user(context.scope, account.id.text))
  }
}

extension SupportPages {
  /// Returns whether the user is notified by email, as a sentence; nil for a user without an
  /// address.
  func notice(to account: Account) -> String? {
    FactorWords.mail(to: account, isCarried: frames.identity.messages.carriesMail)
  }

  /// Returns the user of a page.
  ///
  /// - Throws: ``Refusal/notFound`` if there's no such user.
  func account(
    _ uid: String, _ context: ScopeContext, _ identity: Identity
  ) async throws(Refusal) -> Account {
    let found = try await refusing { try await identity.accounts.find(context.scope, ID(uid)) }
    guard let found else { throw .notFound }
    return found
  }
}
