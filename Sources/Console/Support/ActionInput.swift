import HTTP
import Identity

/// What an agent has typed into a form of the desk.
struct ActionInput: Sendable {
  var reason = ""
  var note = ""
  var ticket = ""
  var proofs: Set<UntrustedText> = []
  /// Who is meant, typed for what cannot be taken back.
  var confirmation = ""
  /// Never shown again.
  var code = ""

  /// An empty form.
  init() {}

  init(_ form: Form) {
    reason = form.trimmed("reason")
    note = form.trimmed("note")
    ticket = form.trimmed("ticket")
    proofs = Set(form.all("proof"))
    confirmation = form.trimmed("confirmation")
    code = form.trimmed("code")
  }

  /// The same for Identity.
  func request(_ signedIn: SignedIn) -> ActionRequest {
    ActionRequest(
      agent: signedIn.session, author: signedIn.author, reason: SupportReason(rawValue: reason),
      note: note, ticket: ticket, proofs: proofs, proof: .code(code),
      typed: confirmation)
  }
}
