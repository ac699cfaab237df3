import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/recovery-codes/removal`: revokes a user's recovery codes.
struct RevokeRecoveryCodes: UserAction {
  static let action = ConsoleAction.revokeRecoveryCodes
  static let name = Message("Revoke recovery codes")
  static let path = PoolPath1("users", nil, "recovery-codes", "removal")
  static let isDestructive = true
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message { Message("Revoke recovery codes…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.records.backupCodes.recoveryLeft != nil
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Revoke the recovery codes for {user}?",
        ["user": account.shortLabel]),
      consequences: [
        Message(
          one: "{count} unused code can no longer be used to sign in.",
          other: "{count} unused codes can no longer be used to sign in.",
          ["count": .number(state.recoveryLeft ?? 0)]),
        Message(
          """
          The user can generate new codes in the application after they sign in with their \
          authenticator app.
          """),
      ], button: Message("Revoke codes"))
    page.notifies = true
    if state.recoveryMadeAt == nil { page.refusal = ActionErrorText.sentence(.noCodes) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.backupCodes.endRecoveryCodes(
      target.request, of: target.user, in: target.pool)
    return FormEnd(
      Message(
        one: "{count} recovery code revoked. The user can generate new ones in the application.",
        other: "{count} recovery codes revoked. The user can generate new ones in the application.",
        ["count": .number(done.value)]),
      at: target.userPage, after: done)
  }
}

enum BackupCodesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let shown = try parts.page("backup-codes/temporary-code", TemporaryCodePage.init)
    table.inside(ConsolePaths.shownCode, .get(.removeFactors, needs: .secrets), shown.show)
  }
}

extension ConsolePaths {
  static let shownCode = PoolPath1("users", nil, "temporary-code", "shown")
}
