import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/caller-code`: sends a user a code to read back, and returns to the form that asks
/// for it, with what was typed in it.
struct SendCallerCode: Sendable {
  let forms: ActionForms

  func send(_ context: PoolContext, _ uid: String) async throws -> Response {
    let signedIn = context.signedIn
    let target = FormTarget(
      place: context, objects: [uid], address: ConsolePaths.callerCode(context.pool, uid),
      origin: forms.frames.publicURL.origin)
    let flash: Flash
    var renewed: NewConsoleSession?
    do {
      let sent = try await forms.identity.support.sendCallerCode(
        to: target.user, in: target.pool, signedIn.plainRequest)
      renewed = sent.renewed
      let address = Message.Value.name(CallerView.masked(sent.value))
      flash = Flash(
        text: forms.identity.messages.carriesMail
          ? Message("Sent a code to {email}. Ask the caller to read it to you.", ["email": address])
          : Message(
            """
            Email isn’t set up, so the code wasn’t emailed to {email}. Opening it under Messages \
            requires the {roles} role.
            """, ["email": address, "roles": Permission.readMessages.roleNames]))
    } catch let error as ActionDenial {
      let faults = try ActionErrorText.faults(error, target.times)
      flash = Flash(
        text: faults.first?.text ?? Message("This action isn’t available."), isAlert: true)
    }
    let address = returnAddress(target)
    let response = forms.frames.leave(flash, signedIn, renewed: renewed, to: address)
    await forms.frames.flashes.keep(
      target.form, of: address, for: renewed?.session ?? signedIn.session)
    return response
  }

  /// The page of an action on the user that the form names; the user's page for any other address.
  private func returnAddress(_ target: PoolTarget) -> String {
    let address = target.form.trimmed("return")
    guard address.utf8.count <= 2_000, address.hasPrefix(target.userPage + "/"),
      Target(address) != nil
    else { return target.userPage }
    return address
  }
}

struct CallerView: ViewModel {
  let caller: CallerStatus
  let frame: FrameView
  let typed: String
  let send: String
  let page: String
  let carriesMail: Bool

  private var status: Message {
    guard let email = caller.email else {
      return Message("This user has no verified email address, so no code can be sent.")
    }
    let address = Message.Value.name(Self.masked(email))
    guard carriesMail else {
      return Message(
        """
        Email isn’t set up, so the code isn’t emailed to {email}. Opening it under Messages \
        requires the {roles} role.
        """, ["email": address, "roles": Permission.readMessages.roleNames])
    }
    guard let sent = caller.sent else {
      return Message(
        "Send a code to {email}, and ask the caller to read it to you.", ["email": address])
    }
    return Message(
      "Sent to {email} on {sent}. The code expires on {expires}.",
      [
        "email": address, "sent": frame.times.value(sent.at),
        "expires": frame.times.value(sent.expiresAt),
      ])
  }

  private var button: Message? {
    caller.email.map { email in
      let address = Message.Value.name(Self.masked(email))
      return caller.sent == nil
        ? Message("Send code to {email}", ["email": address])
        : Message("Send another code")
    }
  }

  /// Returns an address with only the first letter of its local part: `n…@example.com`.
  static func masked(_ email: String) -> String {
    guard let at = email.lastIndex(of: "@"), let first = email.first, at != email.startIndex else {
      return email
    }
    return "\(first)…\(email[at...])"
  }

  static let keys: Keys<Self> = [
    .text("status") { $0.status },
    .flag("isOptional") { !$0.caller.isRequired },
    .flag("asks") { $0.caller.sent != nil || $0.error != nil },
    .text("button") { $0.button },
    .text(\.typed),
    .text("error") { $0.error },
    .text(\.send),
    .text(\.page),
  ]

  private var error: Message? { frame.error(at: "caller-code") }
}
