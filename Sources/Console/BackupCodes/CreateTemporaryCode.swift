import HTTP
import Identity

/// `S/users/{uid}/temporary-code`: generates a temporary code for a user, which the next page shows
/// once.
struct CreateTemporaryCode: SupportAction {
  static let action = ConsoleAction.createTemporaryCode

  let pages: SupportPages
  let codes: CodesToShow

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    let settings = try await refusing { try await pages.support.settings(target.scope) }
    let entered = target.form.trimmed("hours")
    let chosen = BackupCodes.hours.first { String($0) == entered } ?? BackupCodes.hours[0]
    var question = SupportConfirmation(
      user: account, title: "Temporary code",
      heading: HTML.heading("Generate a temporary code for", account.label),
      consequences: consequences(account, state, target.times), button: "Generate code")
    question.caution = LockCaution(account, at: pages.frames.clock.now(), in: target.context)
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
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.backupCodes.makeTemporaryCode(
      request, for: target.user, in: target.scope,
      hours: Int(target.form.trimmed("hours")) ?? 0)
    codes.keep(
      done.value, for: done.renewed?.session ?? target.context.signedIn.session, target.user,
      in: target.scope, at: pages.frames.clock.now())
    return SupportResult(
      nil, at: ConsolePaths.shownCode(target.scope, target.uid), renewed: done.renewed)
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
