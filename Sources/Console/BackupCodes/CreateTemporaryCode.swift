import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code`: generates a temporary code for a user, which the next page shows
/// once.
struct CreateTemporaryCode: FormAction {
  let action = ConsoleAction.createTemporaryCode
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    let settings = try await identity.support.settings(target.pool)
    var page = FormPage(
      account, in: target.pool, title: Message("Temporary code"),
      heading: Message(
        "Generate a temporary code for {user}?", ["user": account.shortLabel]),
      consequences: consequences(account, state, target.times),
      button: Message("Generate code"), isDestructive: false)
    page.caution = LockCaution(account, at: identity.clock.now(), in: target.place)
    page.notifies = true
    page.fields = [
      .menu(
        "hours", Message("Valid for"),
        BackupCodes.hours.map { Field.Option(value: String($0), label: Formatted.hours($0)) },
        value: String(BackupCodes.hours[0]))
    ]
    page.reasons = [.lost, .replaced, .locked, .other]
    page.refusal = settings.temporaryCodeDenial(for: account).map {
      ActionErrorText.sentence($0)
    }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.backupCodes.makeTemporaryCode(
      request, for: target.user, in: target.pool,
      hours: Int(target.form.trimmed("hours")) ?? 0)
    try await identity.consoleStorage.keep(
      done.value, of: target.user, in: target.pool,
      for: done.renewed?.session ?? target.signedIn.session)
    return FormEnd(nil, at: ConsolePaths.shownCode(target.pool, target.uid), after: done)
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
