import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code`: generates a temporary code for a user, which the next page shows
/// once.
struct CreateTemporaryCode: SupportAction {
  let action = ConsoleAction.createTemporaryCode

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    let settings = try await pages.support.settings(target.scope)
    let entered = target.form.trimmed("hours")
    let chosen = BackupCodes.hours.first { String($0) == entered } ?? BackupCodes.hours[0]
    var question = SupportConfirmation(
      user: account, title: Message("Temporary code"),
      heading: Markup(
        html: Message(
          "Generate a temporary code for {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: consequences(account, state, target.times),
      button: Message("Generate code"))
    question.caution = LockCaution(account, at: pages.frames.clock.now(), in: target.context)
    question.notifies = true
    question.isDestructive = false
    question.choice = SupportChoice(
      name: "hours", label: Message("Valid for"),
      options: BackupCodes.hours.map { hours in
        SupportOption(
          value: String(hours), label: Formatted.hours(hours), isChosen: hours == chosen)
      })
    question.reasons = [.lost, .replaced, .locked, .other]
    question.refusal = settings.temporaryCodeDenial(for: account).map {
      ActionErrorText.sentence($0)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.backupCodes.makeTemporaryCode(
      request, for: target.user, in: target.scope,
      hours: Int(target.form.trimmed("hours")) ?? 0)
    try await pages.identity.consoleStorage.keep(
      done.value, of: target.user, in: target.scope,
      for: done.renewed?.session ?? target.context.signedIn.session)
    return SupportResult(
      nil, at: ConsolePaths.shownCode(target.scope, target.uid), renewed: done.renewed)
  }

  private func consequences(
    _ account: Account, _ state: BackupCodeState, _ times: Times
  ) -> [Message] {
    [
      Message(
        """
        The user can sign in once with this code instead of an authenticator code. Their password \
        is still required.
        """),
      Message(
        """
        The code is shown once, for you to read to the caller. Anyone else who hears it also \
        needs the user’s password.
        """),
      state.temporaryUntil.map {
        Message(
          "The existing temporary code, valid until {time}, is revoked.", ["time": times.value($0)])
      },
    ].compactMap { $0 }
  }
}
