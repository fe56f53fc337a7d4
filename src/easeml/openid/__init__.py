"""Sign-in by OpenID Connect: easeml as the client of an identity provider."""

from easeml.openid.claims import Identity
from easeml.openid.provider import Asked, IdentityProvider, provider_of

__all__ = ["Asked", "Identity", "IdentityProvider", "provider_of"]
