import HTTP

struct SecurityHeaders: Sendable {
  private let isSecure: Bool

  init(publicURL: PublicURL) {
    isSecure = publicURL.isSecure
  }

  /// Allows no inline code, no external resources, no framing, and no forms or requests to
  /// other origins.
  ///
  /// Browsers report violations to the server, with `report-uri`, which all of
  /// them support; with `report-to` as well, some would report only over trusted HTTPS.
  static let contentSecurityPolicy =
    "default-src 'none'; style-src 'self'; "
    + "script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    + "base-uri 'none'; frame-ancestors 'none'; object-src 'none'; report-uri /csp-reports"

  func apply(to response: inout Response) {
    var fields = response.fields
    fields.add(.contentSecurityPolicy, Self.contentSecurityPolicy)
    fields.add(.xContentTypeOptions, "nosniff")
    // With `no-referrer`, browsers would send `Origin: null` with the console's own forms.
    fields.add(.referrerPolicy, "same-origin")
    fields.add("Cross-Origin-Opener-Policy", "same-origin")
    fields.add("Cross-Origin-Resource-Policy", "same-origin")
    // Pages contain user data or form tokens, so they must not be cached.
    fields.add(.cacheControl, "no-store")
    if isSecure {
      fields.add(.strictTransportSecurity, "max-age=31536000; includeSubDomains")
    }
    response.fields = fields
  }
}
