import HTTP
import Identity
import Text

struct ActionInput: Sendable {
  var reason = ""
  var note = ""
  var ticket = ""
  var proofs: Set<UntrustedText> = []
  /// The code that the caller read back.
  var callerCode = ""
  /// The email address, UID, or number of users that confirms an action that can't be undone.
  var confirmation = ""
  /// The agent's authenticator code; never shown again in the form.
  var code = ""

  init() {}

  init(_ form: Form) {
    reason = form.trimmed("reason")
    note = form.trimmed("note")
    ticket = form.trimmed("ticket")
    proofs = Set(form.all("proof"))
    callerCode = form.trimmed("caller-code")
    confirmation = form.trimmed("confirmation")
    code = form.trimmed("code")
  }

  func request(_ signedIn: SignedIn) -> ActionRequest {
    ActionRequest(
      agent: signedIn.session, author: signedIn.author, reason: SupportReason(rawValue: reason),
      note: note, ticket: ticket, proofs: proofs, callerCode: callerCode,
      proof: .code(code), typed: confirmation)
  }
}
