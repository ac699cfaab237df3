import HTTP
import Identity
import Localization
import Templating

/// `/exemptions.csv`: the exemptions of the users whom the administrator can export, as CSV.
struct ExemptionsFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  func download(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let query = ExemptionsQuery(signedIn.query)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(signedIn, named: "exemptions") {
      () async throws(Refusal) in
      let found = try await refusing {
        try await identity.exemptions.list(
          in: query.project, visibleTo: signedIn.administrator, for: .exportUsers)
      }
      return (Self.file(found), DownloadedUsers(of: found), Message("Exemptions"))
    } ask: { errors async throws(Refusal) in
      try await ask(signedIn, query, errors)
    }
  }

  private static func file(_ exemptions: [Exemption]) -> CSV {
    var csv = CSV([
      "project", "tenant", "uid", "user", "enrolled", "reason", "note", "ticket", "granted at",
      "granted by", "ends at",
    ])
    for exemption in exemptions {
      csv.add([
        exemption.project.text, exemption.tenant?.text ?? "", exemption.account.text,
        exemption.label, exemption.isEnrolled ? "yes" : "no", exemption.reason.rawValue,
        exemption.note, exemption.ticket, exemption.grantedAt.rfc3339Milliseconds,
        exemption.grantorName, exemption.endsAt.rfc3339Milliseconds,
      ])
    }
    return csv
  }

  /// Returns the confirmation page, because the list has only a button and no field for a code.
  private func ask(
    _ signedIn: SignedIn, _ query: ExemptionsQuery, _ errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let list = query.form.query(of: ConsolePaths.exemptions())
    let page = FormPage(
      title: Message("Download exemptions?"),
      crumbs: [
        Link(text: Message("Policy review"), href: ConsolePaths.reviews()),
        Link(text: Message("Exemptions"), href: list),
      ],
      consequences: [
        Message(
          """
          The file contains the listed users’ email addresses and UIDs, with reasons, notes, and \
          tickets. It leaves out users whom you can’t export.
          """),
        Message("The download is recorded in the audit log of each user pool."),
      ], isQuestion: true, button: Message("Download as CSV"), back: list)
    return try await actions.show(
      page, of: .exportUsers, in: signedIn,
      at: query.form.query(of: ConsolePaths.exemptionsFile()), errors: errors)
  }
}
