import HTTP
import Identity

/// Confirms and performs a support action on a whole account.
struct AccountActPage: Sendable {
  let act: AccountAct
  let identity: Identity
  let pages: SupportPages

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await account(context, uid)
    return try await page(context, account)
  }

  func perform(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await account(context, uid)
    let answers = ActionInput(context.signedIn.form)
    let done: (text: String, renewed: NewConsoleSession?)
    do {
      done = try await act.perform(
        account, identity.support, in: context.scope, answers.request(context.signedIn))
    } catch {
      if case .nothingToDo = error { return pages.leaveUnchanged(uid, context) }
      let confirmation = ConfirmationField(account: account, typed: answers.confirmation)
      let faults = try ActionErrorText.faults(
        error, context.signedIn.times, act.permission, confirmation: confirmation.fault)
      return try await page(context, account, answers, errors: faults)
    }
    let flash = Flash(text: done.text)
    guard act == .deletion else {
      return pages.leave(flash, account, context, renewed: done.renewed)
    }
    return pages.ending.response(
      flash, context.signedIn, renewed: done.renewed, to: ConsolePaths.users(context.scope))
  }

  private func account(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Account {
    let found = try await refusing { try await identity.accounts.find(context.scope, ID(uid)) }
    guard let found else { throw .notFound }
    return found
  }

  private func page(
    _ context: ScopeContext, _ account: Account, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let sessions = try await refusing { try await identity.sessions.count(account) }
    var question = act.question(
      account, sessions: sessions, notice: pages.notice(to: account), context)
    if act.isDone(account) { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }
}
