"""A usual Litestar application: the channels plug-in over Redis."""

import os

import redis.asyncio
from litestar import Litestar
from litestar.channels import ChannelsPlugin
from litestar.channels.backends.redis import RedisChannelsPubSubBackend

backend = RedisChannelsPubSubBackend(redis=redis.asyncio.from_url(os.environ["REDIS_URL"]))
channels = ChannelsPlugin(
    backend=backend,
    channels=["quotes"],
    create_ws_route_handlers=True,
    ws_handler_base_path="/ws",
)
app = Litestar(plugins=[channels])
