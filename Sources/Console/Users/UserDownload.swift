import HTTP
import Identity
import Localization
import Templating

/// The download of a file about users: it requires the permission to export users, and is recorded.
struct UserDownload: Sendable {
  let identity: Identity
  let actions: ActionForms

  /// Returns the file, or a page that asks for confirmation, because the list has only a button and
  /// no field for a code.
  ///
  /// `name` is the file's without its extension. `read` reads the users, with the filter of their
  /// list for the audit log.
  func response(
    in place: some FormPlace, named name: String, asking page: FormPage, at address: String,
    _ read: () async throws -> (file: CSV, users: DownloadedUsers, filter: Message)
  ) async throws -> Response {
    let signedIn = place.signedIn
    // Avoids reading the users for a request that will be denied.
    let unmet = try await actions.unmet(.exportUsers, signedIn)
    guard !actions.request(signedIn).proof.isEmpty || unmet.isEmpty else {
      return try await actions.show(
        page, of: .exportUsers, in: place, at: address,
        errors: signedIn.form["confirmed"] == nil ? [] : unmet)
    }
    let table = try await read()
    // Exports of users are audited, as exports of the audit log are.
    do {
      let outcome = try await identity.accounts.recordDownload(
        of: table.users, filter: actions.frames.catalog.text(table.filter),
        actions.request(signedIn))
      return actions.page(table.file.response(named: name), after: outcome)
    } catch let refusal as ActionDenial {
      let errors = try ActionForms.faults(refusal, .exportUsers, signedIn)
      return try await actions.show(
        page, of: .exportUsers, in: place, at: address, errors: errors)
    }
  }
}
